#ifndef SANDGLASS_DETAIL_LIST_HPP
#define SANDGLASS_DETAIL_LIST_HPP

namespace sandglass::detail {

// A node of a circular doubly-linked list, and also the list itself (its sentinel): an entry leaves whatever list it is
// in without knowing which. Owns nothing.
struct list_hook {
    list_hook* next = nullptr;
    list_hook* prev = nullptr;

    [[nodiscard]] bool linked() const noexcept { return next != nullptr; }

    void unlink() noexcept {
        prev->next = next;
        next->prev = prev;
        next = prev = nullptr;
    }
};

// Threads: one at a time. Cost: O(1) each.
class intrusive_list {
  public:
    intrusive_list() noexcept { reset(); }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;

    [[nodiscard]] bool empty() const noexcept { return head_.next == &head_; }
    [[nodiscard]] list_hook* front() const noexcept { return head_.next; }
    [[nodiscard]] list_hook* back() const noexcept { return head_.prev; }
    [[nodiscard]] const list_hook* sentinel() const noexcept { return &head_; }

    void push_back(list_hook& entry) noexcept {
        entry.prev = head_.prev;
        entry.next = &head_;
        head_.prev->next = &entry;
        head_.prev = &entry;
    }

    // Moves all entries of `other` behind those of this list.
    void splice_back(intrusive_list& other) noexcept {
        if (other.empty()) return;
        head_.prev->next = other.head_.next;
        other.head_.next->prev = head_.prev;
        other.head_.prev->next = &head_;
        head_.prev = other.head_.prev;
        other.reset();
    }

    void reset() noexcept { head_.next = head_.prev = &head_; }

  private:
    list_hook head_;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_LIST_HPP

#ifndef SANDGLASS_DETAIL_CALLABLE_HPP
#define SANDGLASS_DETAIL_CALLABLE_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sandglass/errors.hpp>

namespace sandglass {

class timer_context;

namespace detail {

// A callable that has a name (`sandglass::named`) says it through this member.
template <class F>
concept has_timer_name = requires(const F& f) {
    { f.timer_name() } noexcept -> std::convertible_to<std::string_view>;
};

template <class F>
concept plain_callable = std::is_invocable_v<F&>;
template <class F>
concept context_callable = !plain_callable<F> && std::is_invocable_v<F&, timer_context&>;

// Refuses a null function pointer, an empty std::function and the like. Errors: std::invalid_argument.
template <class F>
void require_callable([[maybe_unused]] const F& f) {
    // Not for a function itself, which is never null, as compilers remark.
    if constexpr (std::is_constructible_v<F, std::nullptr_t> && requires { f == nullptr; }) {
        if (f == nullptr) throw_invalid("callable is null; allowed is one that can be called");
    }
}

// The callable of one timer: 16 bytes of captured state in place, anything larger behind a pointer. Not an owner by
// itself: its node says when `destroy` is due. std::move_only_function is C++23, and libc++ has none.
class callable {
  public:
    static constexpr std::size_t capacity = 16;

    template <class F>
    static constexpr bool fits = sizeof(F) <= capacity && alignof(F) <= alignof(void*);

    // Cost: an allocation if `F` does not fit. Errors: what the allocation or the constructor of `F` throws.
    template <class F, class Arg>
    void emplace(Arg&& arg) {
        if constexpr (fits<F>) {
            ::new (static_cast<void*>(storage_)) F(std::forward<Arg>(arg));
            ops_ = &in_place_ops<F>;
        } else {
            auto owner = std::make_unique<F>(std::forward<Arg>(arg));
            ::new (static_cast<void*>(storage_)) F*(owner.release());
            ops_ = &boxed_ops<F>;
        }
    }

    void invoke(timer_context& context) { ops_->invoke(storage_, context); }
    void destroy() noexcept { ops_->destroy(storage_); }
    [[nodiscard]] std::string_view name() const noexcept { return ops_->name(storage_); }

    template <class F>
    static constexpr bool trivial_to_destroy = fits<F> && std::is_trivially_destructible_v<F>;

  private:
    struct operations {
        void (*invoke)(std::byte*, timer_context&);
        void (*destroy)(std::byte*) noexcept;
        std::string_view (*name)(const std::byte*) noexcept;
    };

    template <class F>
    static F& in_place(std::byte* storage) noexcept {
        return *std::launder(reinterpret_cast<F*>(storage));
    }
    template <class F>
    static F& boxed(std::byte* storage) noexcept {
        return **std::launder(reinterpret_cast<F**>(storage));
    }

    template <class F>
    static void call(F& f, timer_context& context) {
        if constexpr (plain_callable<F>) {
            static_cast<void>(std::invoke(f));
        } else {
            static_cast<void>(std::invoke(f, context));
        }
    }
    template <class F>
    static std::string_view name_of(const F& f) noexcept {
        if constexpr (has_timer_name<F>) {
            return f.timer_name();
        } else {
            return {};
        }
    }

    template <class F>
    static constexpr operations in_place_ops{
        [](std::byte* s, timer_context& context) { call(in_place<F>(s), context); },
        [](std::byte* s) noexcept { std::destroy_at(&in_place<F>(s)); },
        [](const std::byte* s) noexcept { return name_of(in_place<F>(const_cast<std::byte*>(s))); }};
    template <class F>
    static constexpr operations boxed_ops{
        [](std::byte* s, timer_context& context) { call(boxed<F>(s), context); },
        [](std::byte* s) noexcept { delete &boxed<F>(s); },
        [](const std::byte* s) noexcept { return name_of(boxed<F>(const_cast<std::byte*>(s))); }};

    const operations* ops_;
    alignas(void*) std::byte storage_[capacity];
};

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_DETAIL_CALLABLE_HPP

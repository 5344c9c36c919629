#ifndef SANDGLASS_NAMED_HPP
#define SANDGLASS_NAMED_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sandglass/context.hpp>

namespace sandglass {

// A callable with a name, made by `named`.
template <class Text, class F>
class named_callable {
  public:
    template <class Callable>
    named_callable(Text text, Callable&& f) : text_(std::move(text)), f_(std::forward<Callable>(f)) {}

    [[nodiscard]] std::string_view timer_name() const noexcept { return text_; }

    void operator()()
        requires std::is_invocable_v<F&>
    {
        static_cast<void>(f_());
    }
    void operator()(timer_context& context)
        requires(!std::is_invocable_v<F&> && std::is_invocable_v<F&, timer_context&>)
    {
        static_cast<void>(f_(context));
    }

  private:
    Text text_;
    F f_;
};

// Gives a timer a readable name, which error hook, slow hooks and stop visitor are shown:
//
//     timer.schedule_after(30s, named("close order", [order] { close(order); }));
//
// A string literal is kept as a pointer and leaves room for 8 bytes of captures in the timer; any other text is copied.
// A timer without a name pays nothing for this.
//
// Errors: std::invalid_argument for a null callable; std::bad_alloc.
template <std::size_t N, class F>
[[nodiscard]] auto named(const char (&literal)[N], F&& f) {
    detail::require_callable(f);
    return named_callable<const char*, std::decay_t<F>>(literal, std::forward<F>(f));
}
template <std::size_t N, class F>
[[nodiscard]] auto named(char (&buffer)[N], F&& f) {
    detail::require_callable(f);
    return named_callable<std::string, std::decay_t<F>>(std::string(buffer), std::forward<F>(f));
}
template <class F>
[[nodiscard]] auto named(std::string_view text, F&& f) {
    detail::require_callable(f);
    return named_callable<std::string, std::decay_t<F>>(std::string(text), std::forward<F>(f));
}

}  // namespace sandglass

#endif  // SANDGLASS_NAMED_HPP

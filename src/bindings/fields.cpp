#include "bindings/fields.h"

namespace tare::bindings {

nb::str described(nb::handle object) {
  nb::list fields;
  for (const nb::handle name : object.attr("__match_args__"))
    fields.append(nb::str("{}={!r}").format(name, nb::getattr(object, name)));
  return nb::str("{}({})").format(object.type().attr("__name__"), nb::str(", ").attr("join")(fields));
}

}  // namespace tare::bindings

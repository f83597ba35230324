// Passes libotf2's event records to a thread of the import.
#pragma once

#include <otf2/otf2.h>

#include <memory>

namespace tare::importers::otf2 {

// Callbacks whose data are a ThreadImport.
std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> make_event_callbacks();

}  // namespace tare::importers::otf2

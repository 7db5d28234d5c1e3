// Makes a document of a conversation; only for this folder's sources.
#pragma once

#include "records/conversation.hpp"
#include "records/document.hpp"
#include "records/documents.hpp"
#include "records/record.hpp"

namespace spillway {

// Throws Error(bad_input) that names file and line if the template refuses the conversation, or if
// it is not clear where answers begin and end.
Document rendered_chat(Record const& record, Conversation const& conversation,
                       RecordRules const& rules);

}  // namespace spillway

// Makes documents of a conversation; only for this folder's sources.
#pragma once

#include <vector>

#include "records/conversation.hpp"
#include "records/document.hpp"
#include "records/documents.hpp"
#include "records/record.hpp"

namespace spillway {

// Returns one document of which all answers are learned if the template writes every answer as it
// does where that is the last one; else a document for each answer, up to its end. Throws
// Error(bad_input) that names file and line if the template refuses the conversation, or if it is
// not clear where answers begin and end.
std::vector<Document> rendered_chat(Record const& record, Conversation const& conversation,
                                    RecordRules const& rules);

// Returns the messages with the prompt for an answer behind them. Answers at their end are left
// out, and what is not given of a prompt with its completion. Throws what rendered_chat throws.
Document rendered_question(Record const& record, Conversation const& conversation,
                           RecordRules const& rules);

}  // namespace spillway

package engram

import "engram/query/reference"

// Topic is a page of the reference of EQL: its name, and its title.
type Topic = reference.Topic

// Reference returns, as Markdown, what the user's reference of EQL says about a
// topic: a page, a clause, an operator, a function, a type or an error. The
// empty topic is the overview.
func Reference(topic string) (text string, ok bool) { return reference.Lookup(topic) }

// ReferenceTopics lists the pages in reading order. Their headings are topics
// too.
func ReferenceTopics() []Topic { return reference.Topics() }

// SuggestTopic returns the topic whose name is nearest to one that Reference
// does not know, or "".
func SuggestTopic(topic string) string { return reference.Suggest(topic) }

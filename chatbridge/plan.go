package chatbridge

import (
	"context"
	"errors"

	"engram/chatbridge/internal/wire"
)

// planGuidance is in the system prompt of a run in plan mode.
const planGuidance = "You are in plan mode. Look around with tools that read, then answer with a plan of numbered steps, and with nothing else; nothing else runs yet. " +
	"A person approves it or says what to change; then answer with the whole changed plan. Only after you are told of the approval, carry it out."

// approvedWords tell a model that it may go on.
const approvedWords = "The person approved the plan as it is. Carry it out now."

// plan asks a person about a reply that is a plan.
func (b *Bridge) plan(ctx context.Context, s *state, reply *wire.Reply) error {
	text, err := b.final(s, "")
	if err != nil || s.instead != "" {
		return err
	}
	s.Messages = append(s.Messages, reply.Message)
	return b.offer(ctx, s, text, CandidateKey(s.Prompt, text), b.o.Limits.Revisions)
}

// approve lets a run go on with what was shown.
func (b *Bridge) approve(ctx context.Context, s *state, p *provider, _ string) error {
	st := s.Steering
	if st.Kind == ReviewProposal {
		return b.approveProposal(ctx, s)
	}
	if err := b.decided(ctx, s, "approved", ""); err != nil {
		return err
	}
	st.Approved = true
	s.Messages = append(s.Messages, p.User(approvedWords))
	return nil
}

// revise sends a person's words back as they are. Past the ceiling the run stops,
// which is told by the leg.
func (b *Bridge) revise(ctx context.Context, s *state, p *provider, words string) error {
	kind := "revisions"
	if s.Steering.Kind == ReviewProposal {
		kind = "attempts"
	}
	if err := b.spend(ctx, s, kind, b.limit(s.Steering.Kind)); err != nil {
		var st *stopped
		if errors.As(err, &st) {
			s.stop = st
			return b.decided(ctx, s, "stopped", "")
		}
		return err
	}
	if err := b.decided(ctx, s, "revised", words); err != nil {
		return err
	}
	s.Said = words
	if s.Steering.Kind == ReviewProposal {
		words = s.Steering.open("person", words)
	}
	s.Messages = append(s.Messages, p.User(words))
	return nil
}

package chatbridge

import "context"

// layers are what stands between the screen and a model, in their order. They look at
// the message that begins a run, after it was screened; a run that goes on keeps what it
// was told.
func (b *Bridge) layers(ctx context.Context, s *state) error {
	if s.Messages != nil {
		return nil
	}
	for _, layer := range []func(context.Context, *state) (string, error){b.continuity, b.steward, b.imprint} {
		lines, err := layer(ctx, s)
		if err != nil {
			return err
		}
		s.Layers += lines
	}
	return nil
}

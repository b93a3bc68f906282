package text

import "context"

// merge makes one segment of all on disk, and serves from it.
func (ix *Index) merge(ctx context.Context) error {
	if ix.disk == nil {
		return nil
	}
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.disk.scorch.ForceMerge(ctx, nil); err != nil {
		return err
	}
	g := ix.current()
	b, err := ix.disk.newBase(g.base)
	if err != nil {
		return err
	}
	return ix.succeed(g, b, 0)
}

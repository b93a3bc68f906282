package physical

import (
	"errors"

	"engram/graph/schema"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// schemaChange creates or drops an index or a constraint. It yields no rows.
type schemaChange struct {
	f   *frame
	in  operator
	cmd *bound.SchemaChange
}

func (o *schemaChange) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *schemaChange) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if in == nil || err != nil {
		return nil, err
	}
	w, ok := o.f.w.w.(access.SchemaWriter)
	if !ok {
		return nil, fault.Unsupported(o.cmd.Span, "an index")
	}
	if o.cmd.Drop {
		err = o.drop(w)
	} else {
		err = o.create(w)
	}
	if f := fault.As(err); f != nil {
		err = f.WithSpan(o.cmd.Span)
	}
	return nil, err
}

func (o *schemaChange) create(w access.SchemaWriter) error {
	d := o.cmd.Def
	_, err := w.Schema().Prepare(&d)
	var exists *schema.ExistsError
	switch {
	case errors.As(err, &exists) && o.cmd.Lenient:
		return nil
	case errors.As(err, &exists):
		return fault.AtRuntime(fault.ConstraintValidationFailed, "SchemaExists", "%s", err.Error()).Wrap(err).
			WithHint("Add IF NOT EXISTS to leave it as it is.")
	case err != nil:
		return fault.AtRuntime(fault.ArgumentError, "", "%s", err.Error()).Wrap(err)
	}
	if err := w.CreateSchema(o.cmd.Def); err != nil {
		return err
	}
	o.count(&o.f.w.c.IndexesAdded, &o.f.w.c.ConstraintsAdded, d.Constraint())
	return nil
}

func (o *schemaChange) count(indexes, constraints *int64, constraint bool) {
	if constraint {
		*constraints++
		return
	}
	*indexes++
}

func (o *schemaChange) drop(w access.SchemaWriter) error {
	set := w.Schema()
	var d *schema.Def
	if o.cmd.Def.Name != "" {
		d = set.ByName(o.cmd.Def.Name)
	} else {
		d = set.Same(&o.cmd.Def)
	}
	what := "index"
	if o.cmd.Constraint {
		what = "constraint"
	}
	switch {
	case d == nil && o.cmd.Lenient:
		return nil
	case d == nil:
		return o.unknown(set, what)
	case d.Constraint() && !o.cmd.Constraint:
		return fault.AtRuntime(fault.ArgumentError, "", "%s is a constraint, which has an index of its own", d.Name).
			WithHint("Drop it with DROP CONSTRAINT.")
	case !d.Constraint() && o.cmd.Constraint:
		return fault.AtRuntime(fault.ArgumentError, "", "%s is an index, not a constraint", d.Name).
			WithHint("Drop it with DROP INDEX.")
	}
	if err := w.DropSchema(d.ID); err != nil {
		return err
	}
	o.count(&o.f.w.c.IndexesRemoved, &o.f.w.c.ConstraintsRemoved, d.Constraint())
	return nil
}

// unknown is the error for what is not there.
func (o *schemaChange) unknown(set *schema.Set, what string) error {
	if o.cmd.Def.Name == "" {
		return fault.AtRuntime(fault.ArgumentError, "", "there is no %s", o.cmd.Def.String())
	}
	var names []string
	for _, d := range set.All() {
		if d.Constraint() == o.cmd.Constraint {
			names = append(names, d.Name)
		}
	}
	err := fault.AtRuntime(fault.ArgumentError, "", "there is no %s %s", what, o.cmd.Def.Name)
	if near := fault.Nearest(o.cmd.Def.Name, names); near != "" {
		return err.WithHint("Did you mean %s?", near)
	}
	return err
}

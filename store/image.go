package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

const imageColumns = `
	i.n, i.id, coalesce(i.name, ''), i.description, i.container, i.agent, i.session, i.parent, i.created,
	b.n IS NULL, b.data, i.model, i.tools, i.head, i.length`

const imageTables = `images AS i LEFT JOIN blobs AS b ON b.n = i.system`

// A row is an image as its row says it, without messages and files.
type row struct {
	engine.Image
	n    int64
	head sql.NullInt64
}

func scanImage(scan func(...any) error) (row, error) {
	var r row
	var lost bool
	var system, tools []byte
	err := scan(&r.n, &r.ID, &r.Name, &r.Description, &r.Container, &r.Agent, &r.Session, &r.Parent, &r.Created,
		&lost, &system, &r.Model, &tools, &r.head, &r.Length)
	if err != nil {
		return row{}, err
	}
	if lost {
		return row{}, fmt.Errorf("%w: image %s has lost its system prompt", ErrCorrupt, r.ID)
	}
	r.System = string(system)
	if err := json.Unmarshal(tools, &r.Tools); err != nil {
		return row{}, fmt.Errorf("%w: tools of image %s: %w", ErrCorrupt, r.ID, err)
	}
	if len(r.Tools) == 0 {
		r.Tools = nil
	}
	return r, nil
}

// imageOf returns the image of an id, or ErrNotFound.
func imageOf(ctx context.Context, q querier, id event.ImageID) (row, error) {
	all, err := imagesOf(ctx, q, `WHERE i.id = ?`, string(id))
	if err != nil {
		return row{}, err
	}
	if len(all) == 0 {
		return row{}, ErrNotFound
	}
	return all[0], nil
}

func imagesOf(ctx context.Context, q querier, which string, args ...any) ([]row, error) {
	rows, err := q.QueryContext(ctx, `SELECT `+imageColumns+` FROM `+imageTables+` `+which, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		r, err := scanImage(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// Freeze keeps what was said in a session up to the end of its last finished
// turn as an image, with the system prompt, model, tools, files, name,
// description, container and agent that im says. Its parent is the image from
// which the session was begun. Without a model it has that of the session,
// without a time it is now. It is returned without messages and files.
//
// What an image of another conversation has in common with this one from the
// beginning on is not written again, and an image that exists is returned as it
// is: it keeps its time, and nothing is written.
//
// A name is a tag: no two images have one, and no image has two, for a name
// says which one of all is meant and not how often it was taken. An image that
// was frozen without may be given one by freezing it again. A name that another
// image has, and a second one for the same, is ErrExists.
func (db *DB) Freeze(ctx context.Context, from event.SessionID, im engine.Image) (engine.Image, error) {
	frozen, err := db.freeze(ctx, from, im)
	return frozen, db.fault("freeze", err)
}

func (db *DB) freeze(ctx context.Context, from event.SessionID, im engine.Image) (engine.Image, error) {
	if err := errors.Join(db.writable(), im.Valid()); err != nil {
		return engine.Image{}, err
	}
	s, err := db.speech(ctx, from)
	if err != nil {
		return engine.Image{}, err
	}
	im.Session, im.Parent, im.Length, im.Messages = from, s.image, len(s.links), nil
	im.Tools = append([]string(nil), im.Tools...) // the caller's may change
	if im.Model == "" {
		im.Model = s.model
	}
	if im.Created == 0 {
		im.Created = event.MillisOf(db.now())
	}
	im.ID = s.seal().ImageID(im)
	old, err := imageOf(ctx, db.r, im.ID)
	if err == nil && (im.Name == "" || im.Name == old.Name) {
		return old.Image, nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return engine.Image{}, err
	}
	err = db.write(ctx, "freeze", func(ctx context.Context, tx *sql.Tx) (err error) {
		im, err = keepImage(ctx, tx, s, im)
		return err
	})
	return im, err
}

// keepImage writes what is new of an image, and returns it as it is kept.
func keepImage(ctx context.Context, tx *sql.Tx, s speech, im engine.Image) (engine.Image, error) {
	old, err := imageOf(ctx, tx, im.ID)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil || im.Name == "" || im.Name == old.Name:
		return old.Image, err
	case old.Name != "":
		return engine.Image{}, fmt.Errorf("image %s %w, by the name %q", old.ID, ErrExists, old.Name)
	default:
		old.Name = im.Name
		_, err := tx.ExecContext(ctx, `UPDATE images SET name = ? WHERE n = ?`, im.Name, old.n)
		return old.Image, errors.Join(err, free(ctx, tx, im.Name, old.n))
	}
	if err := free(ctx, tx, im.Name, 0); err != nil {
		return engine.Image{}, err
	}
	head, err := keepNodes(ctx, tx, s)
	if err != nil {
		return engine.Image{}, err
	}
	n, err := insertImage(ctx, tx, im, head)
	if err != nil {
		return engine.Image{}, err
	}
	err = keepFiles(ctx, tx, n, im.Sandbox)
	im.Sandbox = nil
	return im, err
}

// free returns ErrExists where an image other than n has the name.
func free(ctx context.Context, tx *sql.Tx, name string, n int64) error {
	var id string
	err := tx.QueryRowContext(ctx, `SELECT id FROM images WHERE name = ? AND n <> ?`, name, n).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("an image of the name %q %w: %s", name, ErrExists, id)
}

func insertImage(ctx context.Context, tx *sql.Tx, im engine.Image, head sql.NullInt64) (int64, error) {
	system, err := keepBlob(ctx, tx, []byte(im.System))
	if err != nil {
		return 0, err
	}
	tools, err := json.Marshal(append([]string{}, im.Tools...))
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `
		INSERT INTO images (id, name, description, container, agent, session, parent, created, system, model, tools, head, length)
		VALUES (?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(im.ID), im.Name, im.Description, string(im.Container), string(im.Agent), string(im.Session), string(im.Parent),
		int64(im.Created), system, im.Model, string(tools), head, im.Length)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Images returns all images, the newest first, without messages and files.
func (db *DB) Images(ctx context.Context) ([]engine.Image, error) {
	if db.schema < imageSchema {
		return nil, nil
	}
	all, err := imagesOf(ctx, db.r, `ORDER BY i.created DESC, i.n DESC`)
	return plain(all), db.fault("images", err)
}

func plain(rows []row) []engine.Image {
	var all []engine.Image
	for _, r := range rows {
		all = append(all, r.Image)
	}
	return all
}

// Image returns the image that ref means, whole: an id, a name, or the
// beginning of an id. Where it means several, the error is an
// [*engine.AmbiguousImageError]; where it means none, ErrNotFound. One whose
// messages or files are not those that were frozen is ErrCorrupt.
func (db *DB) Image(ctx context.Context, ref string) (engine.Image, error) {
	var im engine.Image
	err := db.look(ctx, func(tx *sql.Tx) error {
		r, err := meant(ctx, tx, ref)
		if err != nil {
			return err
		}
		w, err := wholeOf(ctx, tx, r)
		im = w.Image
		return err
	})
	return im, db.fault("image", err)
}

// look calls f with one moment of the database.
func (db *DB) look(ctx context.Context, f func(tx *sql.Tx) error) error {
	if db.schema < imageSchema {
		return ErrNotFound
	}
	tx, err := db.r.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(tx)
}

func meant(ctx context.Context, q querier, ref string) (row, error) {
	if ref == "" || len(ref) > 1000 {
		return row{}, ErrNotFound
	}
	all, err := imagesOf(ctx, q, `WHERE i.id = ?1 OR i.name = ?1`, ref) // no name looks like an id
	if err == nil && len(all) == 0 {
		id := strings.ToLower(ref)
		all, err = imagesOf(ctx, q, `
			WHERE i.id BETWEEN ?1 AND ?1 || '~'
			ORDER BY i.created DESC, i.n DESC
			LIMIT 10`, id)
	}
	switch {
	case err != nil:
		return row{}, err
	case len(all) == 0:
		return row{}, ErrNotFound
	case len(all) > 1:
		return row{}, &engine.AmbiguousImageError{Ref: ref, Candidates: plain(all)}
	}
	return all[0], nil
}

// A whole is an image with its messages as they are kept.
type whole struct {
	engine.Image
	texts []string // of the messages, as JSON
}

// wholeOf reads what belongs to an image, and proves that it does.
func wholeOf(ctx context.Context, tx *sql.Tx, r row) (whole, error) {
	w := whole{Image: r.Image}
	var err error
	var seal engine.Seal
	if w.Messages, w.texts, seal, err = nodesOf(ctx, tx, r.head); err != nil {
		return w, fmt.Errorf("image %s: %w", r.ID, err)
	}
	if w.Sandbox, err = filesOf(ctx, tx, r.n); err != nil {
		return w, fmt.Errorf("image %s: %w", r.ID, err)
	}
	if seal.ImageID(w.Image) != w.ID || len(w.Messages) != w.Length {
		return w, fmt.Errorf("%w: image %s does not hold what was frozen", ErrCorrupt, r.ID)
	}
	return w, nil
}

// Thaw makes a session of what an image holds. Its id, title, folder and time
// of creation are those of to, its model is that of the image. What the image's
// turns used was used elsewhere: it counts neither here nor in the statistics.
func (db *DB) Thaw(ctx context.Context, id event.ImageID, to Session) error {
	return db.fault("thaw", db.thaw(ctx, id, to))
}

func (db *DB) thaw(ctx context.Context, id event.ImageID, to Session) error {
	if err := db.writable(); err != nil {
		return err
	}
	var w whole
	err := db.look(ctx, func(tx *sql.Tx) error {
		r, err := imageOf(ctx, tx, id)
		if err != nil {
			return err
		}
		w, err = wholeOf(ctx, tx, r)
		return err
	})
	if err != nil {
		return err
	}
	return db.write(ctx, "thaw", func(ctx context.Context, tx *sql.Tx) error {
		s := Session{ID: to.ID, Title: line(to.Title), Model: w.Model, Dir: to.Dir, System: to.System, Image: id, Created: to.Created}
		if err := db.create(ctx, tx, s); err != nil {
			return err
		}
		return pour(ctx, tx, to.ID, w.Messages, w.texts, len(w.Messages))
	})
}

// DeleteImage removes an image and what no other image needs. The sessions that
// were begun from it stay.
//
// What is needed is known by its neighbours: a message is, as long as an image
// ends with it or another message comes after it. So the way leads from the
// image's last message back to the first that is needed, and costs as much as
// is removed, however many images there are.
func (db *DB) DeleteImage(ctx context.Context, id event.ImageID) error {
	return db.write(ctx, "delete image", func(ctx context.Context, tx *sql.Tx) error {
		var head sql.NullInt64
		err := tx.QueryRowContext(ctx, `DELETE FROM images WHERE id = ? RETURNING head`, string(id)).Scan(&head)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil || !head.Valid {
			return err
		}
		return dropNodes(ctx, tx, head.Int64)
	})
}

func keepFiles(ctx context.Context, tx *sql.Tx, image int64, files []engine.File) error {
	for _, f := range files {
		var blob sql.NullInt64
		if !f.Gone {
			n, err := keepBlob(ctx, tx, f.Data)
			if err != nil {
				return err
			}
			blob = sql.NullInt64{Int64: n, Valid: true}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO files VALUES (?, ?, ?, ?)`, image, f.Path, f.Mode, blob); err != nil {
			return err
		}
	}
	return nil
}

func filesOf(ctx context.Context, q querier, image int64) ([]engine.File, error) {
	rows, err := q.QueryContext(ctx, `
		SELECT f.path, f.mode, f.blob IS NULL, b.data
		FROM files AS f LEFT JOIN blobs AS b ON b.n = f.blob
		WHERE f.image = ?
		ORDER BY f.path`, image)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var files []engine.File
	for rows.Next() {
		var f engine.File
		if err := rows.Scan(&f.Path, &f.Mode, &f.Gone, &f.Data); err != nil {
			return nil, err
		}
		f.Data = slices.Clip(f.Data)
		if len(f.Data) == 0 {
			f.Data = nil
		}
		files = append(files, f)
	}
	return files, rows.Err()
}

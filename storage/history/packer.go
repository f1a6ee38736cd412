package history

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// Packer writes items, which consist of texts and numbers, so that they take little room and little time: a text that
// comes again is its number in a list, and identifiers in hexadecimal digits take half of their length.
type Packer struct {
	items []byte
	item  []byte // the one that is being written
	texts []byte
	known map[string]uint64
	raw   [maxHex / 2]byte
}

// A number is written twice as large, without sign, and is even. What is odd is twice one of these, and one more: how a text is
// written, or the number of a text in the list.
const (
	emptyText = iota
	plainText
	hexText
	wideInt // a number that has no room for that
	firstKnown
)

func odd(kind uint64) uint64 { return kind<<1 | 1 }

const (
	maxKnown = 256 // length of a text in the list
	minHex   = 8
	maxHex   = 64 // digits of an identifier
)

func (p *Packer) reset() {
	p.items, p.item, p.texts = p.items[:0], p.item[:0], p.texts[:0]
	if p.known == nil {
		p.known = map[string]uint64{}
	}
	clear(p.known)
}

// Int adds a number; small ones take a byte.
func (p *Packer) Int(n int64) {
	if z := uint64(n)<<1 ^ uint64(n>>63); z < 1<<63 {
		p.item = binary.AppendUvarint(p.item, z<<1)
		return
	}
	p.item = binary.AppendVarint(append(p.item, byte(odd(wideInt))), n)
}

// Text adds a text.
func (p *Packer) Text(s string) {
	if s == "" {
		p.item = append(p.item, byte(odd(emptyText)))
		return
	}
	if n, ok := p.known[s]; ok {
		p.item = binary.AppendUvarint(p.item, odd(n))
		return
	}
	switch {
	case len(s) >= minHex && len(s) <= maxHex && len(s)%2 == 0 && p.hex(s):
		p.item = append(append(p.item, byte(odd(hexText)), byte(len(s)/2)), p.raw[:len(s)/2]...)
	case len(s) > maxKnown:
		p.item = append(binary.AppendUvarint(append(p.item, byte(odd(plainText))), uint64(len(s))), s...)
	default:
		n := firstKnown + uint64(len(p.known))
		p.known[s] = n
		p.texts = append(binary.AppendUvarint(p.texts, uint64(len(s))), s...)
		p.item = binary.AppendUvarint(p.item, odd(n))
	}
}

// hex reads lower-case hexadecimal digits, and reports whether there is nothing else.
func (p *Packer) hex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	_, err := hex.Decode(p.raw[:], []byte(s))
	return err == nil
}

// again adds all that an item has.
func (p *Packer) again(u Unpacker) error {
	for len(u.item) > 0 {
		if n, _ := binary.Uvarint(u.item); n&1 != 0 && n != odd(wideInt) {
			p.Text(u.Text())
		} else {
			p.Int(u.Int())
		}
	}
	return u.err
}

// end ends the item.
func (p *Packer) end() {
	p.items = append(binary.AppendUvarint(p.items, uint64(len(p.item))), p.item...)
	p.item = p.item[:0]
}

// size is what the items before this one take.
func (p *Packer) size() int { return len(p.items) + len(p.texts) }

// append appends all items with the list of their texts.
func (p *Packer) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.known)))
	b = binary.AppendUvarint(b, uint64(len(p.texts)))
	return append(append(b, p.texts...), p.items...)
}

// Unpacker reads an item as it was written. After an error it returns zero values.
type Unpacker struct {
	item  []byte
	texts []string
	err   error
}

var errPacked = errors.New("packed item: is damaged")

// Err is what was wrong with the item, if anything.
func (u *Unpacker) Err() error { return u.err }

func (u *Unpacker) uint() uint64 {
	n, size := binary.Uvarint(u.item)
	if size <= 0 {
		return uint64(u.damaged())
	}
	u.item = u.item[size:]
	return n
}

// Int returns the next number.
func (u *Unpacker) Int() int64 {
	z := u.uint()
	switch {
	case z == odd(wideInt):
		n, size := binary.Varint(u.item)
		if size <= 0 {
			return int64(u.damaged())
		}
		u.item = u.item[size:]
		return n
	case z&1 != 0:
		return int64(u.damaged())
	}
	z >>= 1
	return int64(z>>1) ^ -int64(z&1)
}

func (u *Unpacker) damaged() int {
	u.item, u.err = nil, errPacked
	return 0
}

// Len returns the next number if so many texts or numbers can follow.
func (u *Unpacker) Len() int {
	n := u.Int()
	if n < 0 || n > int64(len(u.item)) {
		return u.damaged()
	}
	return int(n)
}

// Text returns the next text.
func (u *Unpacker) Text() string {
	switch n := u.uint(); {
	case n == odd(emptyText):
	case n == odd(plainText):
		return string(u.bytes())
	case n == odd(hexText):
		return hex.EncodeToString(u.bytes())
	case n&1 != 0 && n>>1 >= firstKnown && n>>1-firstKnown < uint64(len(u.texts)):
		return u.texts[n>>1-firstKnown]
	default:
		u.damaged()
	}
	return ""
}

func (u *Unpacker) bytes() []byte {
	n := u.uint()
	if n > uint64(len(u.item)) {
		u.damaged()
		return nil
	}
	b := u.item[:n]
	u.item = u.item[n:]
	return b
}

// unpack returns what reads each item.
func unpack(b []byte) (items []Unpacker, err error) {
	all := Unpacker{item: b}
	count := all.uint()
	list := all.bytes()
	if all.err != nil || count > uint64(len(list)) {
		return nil, errPacked
	}
	texts := make([]string, 0, count)
	for whole := string(list); uint64(len(texts)) < count; {
		n, size := binary.Uvarint(list)
		if size <= 0 || n > uint64(len(list)-size) {
			return nil, errPacked
		}
		end := size + int(n)
		texts, whole, list = append(texts, whole[size:end]), whole[end:], list[end:]
	}
	for len(all.item) > 0 {
		item := all.bytes()
		if all.err != nil {
			return nil, all.err
		}
		items = append(items, Unpacker{item: item, texts: texts})
	}
	return items, nil
}

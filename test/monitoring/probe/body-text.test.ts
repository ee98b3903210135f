import { expect, test } from 'vitest'
import { bodyText } from '../../../src/monitoring/probe/body-text.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()
const late = `<!doctype html>${' '.repeat(1024)}<meta charset=iso-8859-1>ö`

test.each([
  ['UTF-8 by default', undefined, Buffer.from('ö'), 'ö'],
  ['a BOM before the header', 'text/plain; charset=iso-8859-1', Buffer.from('\ufeffö'), 'ö'],
  ['UTF-16 by BOM', 'text/html', Buffer.from('\ufeffö', 'utf16le'), 'ö'],
  ['UTF-16 by the other BOM', 'application/json', utf16be('\ufeff{"ö":1}'), '{"ö":1}'],
  ['the header', 'text/html; charset=ISO-8859-1', latin1('<meta charset=utf-8>ö'), 'ö'],
  ['the header in quotes', 'text/html;charset = "latin1"', latin1('ö'), 'ö'],
  ['no charset that does not exist', 'text/html; charset=nonsense', latin1('<meta charset=latin1>ö'), 'ö'],
  ['meta', 'text/html', latin1('<meta charset="iso-8859-1">ö'), 'ö'],
  ['meta without a type', undefined, latin1("<META CHARSET='iso-8859-1'/>ö"), 'ö'],
  ['meta http-equiv', 'text/html', latin1('<meta content="text/html; charset=latin1" http-equiv=Content-Type>ö'), 'ö'],
  ['no meta in a comment', 'text/html', Buffer.from('<!-- <meta charset=latin1> -->ö'), 'ö'],
  [
    'the first meta with a charset',
    'text/html',
    latin1('<meta name=a content="charset=utf-8"><meta charset=latin1>ö'),
    'ö',
  ],
  ['no meta after 1024 bytes', 'text/html', Buffer.from(late), 'ö'],
  ['no meta in JSON', 'application/json', Buffer.from('{"a":"<meta charset=latin1>ö"}'), 'ö'],
  ['a meta of UTF-16, which it cannot be', 'text/html', Buffer.from('<meta charset=utf-16>ö'), 'ö'],
  [
    'Japanese',
    'text/html',
    Buffer.concat([Buffer.from('<meta charset=Shift_JIS>'), Buffer.from('93fa967b', 'hex')]),
    '日本',
  ],
  ['an XML declaration', 'application/rss+xml', latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>ö</a>'), 'ö'],
  ['an XML declaration in HTML', 'text/html', latin1("<?xml version='1.0' encoding='ISO-8859-1'?><p>ö"), 'ö'],
  [
    'meta before an XML declaration',
    'text/html',
    latin1('<?xml version="1.0" encoding="utf-8"?><meta charset=latin1>ö'),
    'ö',
  ],
  [
    'UTF-16 XML without BOM',
    'text/xml',
    Buffer.from('<?xml version="1.0" encoding="utf-16"?><a>ö</a>', 'utf16le'),
    'ö',
  ],
])('a body is read by %s', (_, type, body, contained) => {
  expect(bodyText({ headers: type === undefined ? {} : { 'content-type': type }, body })).toContain(contained)
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCsv } from '../../src/notification/csv.ts'

const fieldsOf = (text: string) => parseCsv(text).map(({ fields }) => fields)

describe('comma-separated values', () => {
  test.each([
    ['', []],
    ['a', [['a']]],
    [
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a\rb', [['a'], ['b']]],
    ['\ufeffa,b', [['a', 'b']]],
    ['"a,1","say ""hi"""', [['a,1', 'say "hi"']]],
    ['"two\nlines",x', [['two\nlines', 'x']]],
    [
      'a;b\nc;d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a,,c', [['a', '', 'c']]],
    ['a\n\nb', [['a'], [''], ['b']]],
    ['"not closed', [['not closed']]],
  ])('%j', (text, rows) => expect(fieldsOf(text)).toEqual(rows))

  test('tell on which line each record begins', () => {
    expect(parseCsv('a\n"two\nlines"\nb').map(({ line }) => line)).toEqual([1, 2, 4])
  })

  test('come back as they were written, whatever is in them', () => {
    const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`
    fc.assert(
      fc.property(fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { minLength: 1 }), (rows) => {
        const text = rows.map((row) => row.map(quoted).join(',')).join('\n')
        // Semicolons outside quotes are what separators are guessed from; here there are none.
        fc.pre(!text.split('\n', 1)[0]?.includes(';'))
        expect(fieldsOf(text)).toEqual(rows)
      }),
    )
  })

  test('end, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseCsv(text).length).toBeLessThanOrEqual(text.length + 1)
      }),
    )
  })
})

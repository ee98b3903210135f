import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CsvRow, csvLine, readCsv, withoutApostrophe } from '../../../src/notification/subscriber/csv.ts'

async function rowsOf(text: string): Promise<CsvRow[]> {
  const rows: CsvRow[] = []
  for await (const row of readCsv(text)) rows.push(row)
  return rows
}

const fieldsOf = async (text: string) => (await rowsOf(text)).map(({ fields }) => fields)

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
  ])('%j', async (text, rows) => expect(await fieldsOf(text)).toEqual(rows))

  test('return the first line of each record', async () => {
    expect((await rowsOf('a\n"two\nlines"\nb')).map(({ line }) => line)).toEqual([1, 2, 4])
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['+1+1', "'+1+1"],
    ['-1+1', "'-1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
    ['\t=1+1', "'\t'=1+1"],
    ['\r=1+1', `"'\r'=1+1"`],
    ['\n=1+1', `"'\n'=1+1"`],
    [' =1+1', " '=1+1"],
    ['"=1+1', `"""'=1+1"`],
    ['\uff1d1+1', "'\uff1d1+1"],
    // A spreadsheet that expects semicolons or tabs.
    ['a;=1+1', "a;'=1+1"],
    ['a; "=1+1"', `"a; ""'=1+1"""`],
    ['a\t@x', "a\t'@x"],
    ['a\r\n-1+1', `"a\r\n'-1+1"`],
    // Numbers and other texts stay.
    ['-5', '-5'],
    ['-0.25', '-0.25'],
    ['99.982', '99.982'],
    ['a=b; c-d', 'a=b; c-d'],
    ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00Z'],
  ])('are no formulas: %j is written as %j', (text, written) => {
    expect(csvLine(['x', text])).toBe(`x,${written}\r\n`)
    expect(csvLine([text])).toBe(`${written}\r\n`)
  })

  test.each(['=a@b.example', '+a@b.example', '-a@b.example', '@x', 'a@b.example', "'a"])(
    'are read back as they were: %s',
    async (text) => {
      const [[read = ''] = []] = await fieldsOf(csvLine([text]))
      expect(withoutApostrophe(read)).toBe(text)
    },
  )

  test('are made harmless in linear time', () => {
    const begun = process.cpuUsage()
    for (const unit of ['\n', ' ', '"', "'", ';', '\t ', "; '"]) csvLine([unit.repeat(200_000)])
    const { user } = process.cpuUsage(begun)
    expect(user / 1000).toBeLessThan(2000)
  })

  test('round-trip any content', async () => {
    const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { minLength: 1 }),
        async (rows) => {
          const text = rows.map((row) => row.map(quoted).join(',')).join('\n')
          // Separators are guessed from semicolons outside quotes, of which there are none here.
          fc.pre(!text.split('\n', 1)[0]?.includes(';'))
          expect(await fieldsOf(text)).toEqual(rows)
        },
      ),
    )
  })

  test('terminate for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect((await rowsOf(text)).length).toBeLessThanOrEqual(text.length + 1)
      }),
    )
  })

  test.each([
    ['newlines', '\n'.repeat(200_000)],
    ['commas', ','.repeat(200_000)],
  ])('yield to the event loop: 200,000 %s', async (_, text) => {
    let slices = 0
    const others = setInterval(() => slices++, 0)
    await rowsOf(text)
    clearInterval(others)
    expect(slices).toBeGreaterThan(1)
  })
})

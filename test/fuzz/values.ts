import { pick, type Random } from './random.ts'

/** A kind of hostile value. */
export interface Kind {
  readonly name: string
  make(random: Random): unknown
}

/** Lengths around the limits of names, messages and requests. */
const length = (random: Random) => pick(random, [20, 101, 300, 2000, 4000, 9990, 30_000, 100_000])

const repeated = (name: string, piece: string, end = ''): Kind => ({
  name,
  make: (random) => `a${piece.repeat(length(random) / piece.length)}${end}`,
})

/** Texts that take long to read, mean something elsewhere, or cannot be stored. */
export const texts: readonly Kind[] = [
  repeated('combining marks', '\u0301'),
  repeated('dashes', '-', '!'),
  repeated('spaces', ' ', 'x'),
  repeated('spaces and a line separator', ' ', '\u2028x'),
  repeated('line separators', '\u2028'),
  repeated('line breaks', '\r\n', 'x'),
  repeated('dots', '.', '!'),
  repeated('slashes', '/', '\n'),
  repeated('open brackets', '[{('),
  repeated('digits', '9'),
  repeated('Markdown', '![[*_`'),
  repeated('placeholders', '{{ '),
  repeated('angle brackets', '<a href="'),
  repeated('quotes', '"\\'),
  repeated('addresses', 'a@'),
  repeated('long letters', 'ﷺ'),
  repeated('percent signs', '%25'),
  repeated('commas', '1,'),
  repeated('emoji', '👩‍👩‍👧'),
  ...[
    ...['', ' ', 'null', 'undefined', '__proto__', 'constructor', 'toString', '0', '-0', '-1', 'NaN', '1e308', '1e999'],
    ...['2147483648', '9007199254740993', '0x10', '1_000', '٣', 'true'],
    ...['a\0b', '\ud800', 'a\udc00b', '\u202egnp.exe', '\u2066a', '\ufeff', '\u001b[31m', '\x7f', '=cmd|a!A1'],
    ...["' OR 1=1 --", '; DROP TABLE "User"', '#{7*7}', '{{constructor}}', '../../etc/passwd', '%00', '%ff', '\\'],
    ...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'http://[::1', 'http://127.0.0.1:25/', '//a'],
    ...['http://a:b@c/', 'https://xn--a/', 'http://0x7f.1/', 'gopher://a', 'HTTP://A.EXAMPLE:99999', 'https://..'],
    ...['* * * * *', '0 0 30 2 *', '*/0 * * * *', '59 23 31 12 7', '@reboot', '0-59/1,0-59/1 * * * *'],
    ...['FREQ=SECONDLY', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'RRULE:FREQ=DAILY;COUNT=999999999;INTERVAL=0'],
    ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '2026-02-30T00:00:00Z', '+275760-09-13T00:00:00Z'],
    ...['2026-01-01T00:00:00+99:99', '1969-12-31T23:59:59Z', '2026-01-01', '24:00', 'Europe/Berlin', 'Etc/GMT+99'],
    ...[
      '(a+)+$',
      '(?<=a)b',
      '[',
      '(?i)',
      '$..*',
      '$[?(@.a)]',
      '#',
      '+/#',
      'xn--a',
      'ａ.ｅｘａｍｐｌｅ',
      '1.2.3.4/33',
      '::/0',
    ],
    ...['svc_000000000000000000000000', 'inc_zzzzzzzzzzzzzzzzzzzzzzzz', 'svc_', 'INVALID_VALUE', 'eyJhIjoxfQ=='],
  ].map((text): Kind => ({ name: JSON.stringify(text), make: () => text })),
]

/** Numbers at every edge. */
export const numbers: readonly Kind[] = [
  ...[
    0,
    -0,
    -1,
    1,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 32,
    2 ** 53,
    2 ** 53 + 2,
    1e21,
    1e308,
    5e-324,
    0.1,
    -0.5,
  ],
  ...[99, 100, 101, 1000, 86_400, 65_536],
].map((number): Kind => ({ name: Object.is(number, -0) ? '-0' : String(number), make: () => number }))

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown =>
  depth === 0 ? 'x' : wrap(nested(depth - 1, wrap))

/** Values of other shapes than the expected one. */
export const shapes: readonly Kind[] = [
  { name: 'null', make: () => null },
  { name: 'a boolean', make: () => true },
  { name: 'an empty list', make: () => [] },
  { name: 'an empty object', make: () => ({}) },
  { name: 'a list in a list', make: () => [[]] },
  { name: 'nested lists', make: (random) => nested(pick(random, [19, 21, 500, 3000]), (inner) => [inner]) },
  { name: 'nested objects', make: (random) => nested(pick(random, [19, 21, 500, 3000]), (inner) => ({ a: inner })) },
  {
    name: 'many members',
    make: (random) =>
      Object.fromEntries(Array.from({ length: pick(random, [50, 1000, 9000]) }, (_, n) => [`nam${n}`, 1])),
  },
  { name: 'many items', make: (random) => Array(pick(random, [101, 2000, 30_000])).fill(1) },
  { name: 'many empty objects', make: (random) => Array(pick(random, [101, 2000, 30_000])).fill({}) },
  { name: 'many texts', make: (random) => Array(pick(random, [101, 2000, 20_000])).fill('a') },
  { name: 'a long name', make: () => ({ ['n'.repeat(60_000)]: 1 }) },
  { name: 'names of prototypes', make: () => JSON.parse('{"__proto__": {"a": 1}, "constructor": {"prototype": {}}}') },
]

/** All values. */
export const all: readonly Kind[] = [...texts, ...numbers, ...shapes]

import { readFileSync } from 'node:fs'
import type { Rule } from 'eslint'
import * as regexp from 'eslint-plugin-regexp'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Offence, sourceLinter, sources } from './source-linter.ts'

/** Calls whose time does not grow in proportion to the text, or that belong to a parser of others. */
const costly = new Set([
  '@simplewebauthn/server',
  'croner',
  'image-size',
  'ipaddr.js',
  'json-p3',
  'micromark',
  'minisearch',
  'node-sqlite3-wasm',
  'openid-client',
  'postal-mime',
  're2js',
  'rrule-temporal',
  'tldts',
  'yaml',
])
const costlyNames = new Set(['domainToASCII', 'domainToUnicode'])

const costlyText: Rule.RuleModule = {
  create: (context) => {
    const report = (node: Rule.Node, message: string) => context.report({ node, message })
    const imported = (node: Rule.Node, from: unknown) => {
      if (typeof from === 'string' && costly.has(from)) report(node, from)
    }
    return {
      ImportDeclaration(node) {
        imported(node, node.source.value)
        for (const each of node.specifiers)
          if (
            each.type === 'ImportSpecifier' &&
            each.imported.type === 'Identifier' &&
            costlyNames.has(each.imported.name)
          )
            report(node, each.imported.name)
      },
      ImportExpression(node) {
        if (node.source.type === 'Literal') imported(node, node.source.value)
      },
      CallExpression(node) {
        const [first] = node.arguments
        if (node.callee.type === 'MemberExpression' && node.callee.property.type === 'Identifier') {
          if (node.callee.property.name === 'normalize') report(node, 'normalize')
        }
        // `require`, by whatever name.
        if (first?.type === 'Literal' && node.arguments.length === 1) imported(node, first.value)
        if (isRegExp(node.callee) && first?.type !== 'Literal') report(node, 'RegExp')
      },
      NewExpression(node) {
        if (isRegExp(node.callee) && node.arguments[0]?.type !== 'Literal') report(node, 'RegExp')
      },
    }
  },
}
const isRegExp = (callee: { type: string; name?: string }) => callee.type === 'Identifier' && callee.name === 'RegExp'

/** Checks that see text only after its length has been checked, and only if it is not too long. */
const checks = new Set(['refine', 'superRefine', 'check', 'transform'])

/** A schema of Zod continues after `max`, unless it aborts. */
const cappedFirst: Rule.RuleModule = {
  create: (context) => ({
    CallExpression(node) {
      const chain = chainOf(node)
      if (node.parent.type === 'MemberExpression' || chain === null) return
      const [first = -1] = chain.flatMap(({ name }, index) => (checks.has(name) ? [index] : []))
      if (first < 0) return
      const isCapped = chain.slice(0, first).some(({ name, text }) => name === 'max' && /abort: true/.test(text))
      if (!isCapped) context.report({ node, message: chain[first]?.name ?? '' })
    },
  }),
}

type Call = Parameters<NonNullable<Rule.RuleListener['CallExpression']>>[0]
/** What a method is called on. */
type Inner = Extract<Call['callee'], { type: 'MemberExpression' }>['object']

interface Link {
  readonly name: string
  /** The source of its arguments. */
  readonly text: string
}

/** Returns the calls of a chain that begins with `z.string()`, in order; null: it is none. */
function chainOf(node: Call | Inner): Link[] | null {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return null
  const { object, property } = node.callee
  if (property.type !== 'Identifier') return null
  const link = { name: property.name, text: node.arguments.map(textOf).join() }
  if (object.type === 'Identifier') return object.name === 'z' && property.name === 'string' ? [link] : null
  const before = chainOf(object)
  return before && [...before, link]
}

const textOf = (node: Call['arguments'][number]): string =>
  node.type === 'ObjectExpression'
    ? node.properties
        .flatMap((each) =>
          each.type === 'Property' && each.key.type === 'Identifier' && each.value.type === 'Literal'
            ? [`${each.key.name}: ${each.value.value}`]
            : [],
        )
        .join()
    : ''

const rules = { 'text/costly': 'error', 'text/capped-first': 'error' } as const
const linter = sourceLinter({
  plugins: { regexp, text: { rules: { costly: costlyText, 'capped-first': cappedFirst } } } as never,
  rules: {
    ...rules,
    'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
    'regexp/no-super-linear-move': ['error', { report: 'potential' }],
  },
})

/** The settings, which the operator writes. */
const OPERATORS = 'src/core/config.ts'

/** A use that is permitted, and where its text was limited. */
interface Permitted {
  readonly file: string
  readonly uses: string
  /** The file that limits the text, if it is another one, and what does it there. */
  readonly limit: readonly [file: string | undefined, name: string]
}

/** A new use belongs here only with a limit that its text has passed before. */
const permitted: readonly Permitted[] = [
  { file: 'src/configuration/keys.ts', uses: 'normalize', limit: [undefined, 'slice(0, MAX_READ)'] },
  { file: 'src/graphql/list/order.ts', uses: 'normalize', limit: [undefined, 'slice(0, MAX_KEY_LENGTH)'] },
  {
    file: 'src/http/response/send-file.ts',
    uses: 'normalize',
    limit: ['src/status/incident/file-content.ts', 'MAX_NAME_LENGTH = 120'],
  },
  { file: 'src/import/incident-fields.ts', uses: 'normalize', limit: [undefined, 'slice(0, MAX_READ)'] },
  {
    file: 'src/monitoring/probe/scram.ts',
    uses: 'normalize',
    limit: ['src/monitoring/probe/postgresql.ts', 'passwordText(1000)'],
  },
  { file: 'src/people/password.ts', uses: 'normalize', limit: [undefined, 'slice(0, MAX_PASSWORD_LENGTH)'] },
  {
    file: 'src/status-page/open-graph-image.ts',
    uses: 'normalize',
    limit: ['src/core/validation.ts', 'nameText = lineText(100)'],
  },
  { file: 'src/status/incident/file-content.ts', uses: 'normalize', limit: [undefined, 'name.slice(-1000)'] },

  {
    file: 'src/account/custom-domain/domain-name.ts',
    uses: 'tldts',
    limit: ['src/core/host-name.ts', 'trimmedText(253)'],
  },
  { file: 'src/blacklist/target.ts', uses: 'tldts', limit: [undefined, 'text.length > MAX_INPUT_LENGTH'] },
  { file: 'src/blacklist/target.ts', uses: 'domainToASCII', limit: [undefined, 'text.length > MAX_INPUT_LENGTH'] },
  { file: 'src/blacklist/target.ts', uses: 'domainToUnicode', limit: [undefined, 'text.length > MAX_INPUT_LENGTH'] },
  { file: 'src/monitoring/probe/domain-expiry.ts', uses: 'tldts', limit: [undefined, 'trimmedText(255)'] },
  {
    file: 'src/network/destination.ts',
    uses: 'tldts',
    limit: ['src/network/dns/message.ts', 'isQueryable(name: string)'],
  },
  {
    file: 'src/network/public-name.ts',
    uses: 'tldts',
    limit: ['src/network/dns/message.ts', 'isQueryable(name: string)'],
  },

  { file: 'src/blacklist/geo/asn-table.ts', uses: 'ipaddr.js', limit: ['package.json', '@ip-location-db/asn'] },
  { file: 'src/core/ip-address.ts', uses: 'ipaddr.js', limit: [undefined, 'text.length > MAX_ADDRESS_LENGTH'] },
  {
    file: 'src/core/network-range.ts',
    uses: 'ipaddr.js',
    limit: ['src/core/ip-address.ts', 'text.length > MAX_ADDRESS_LENGTH'],
  },

  {
    file: 'src/configuration/yaml-text.ts',
    uses: 'yaml',
    limit: ['src/configuration/format.ts', 'MAX_FILE_LENGTH = 1_000_000'],
  },
  {
    file: 'src/import/sources.ts',
    uses: 'yaml',
    limit: ['src/console/html/organization/import.tsx', 'MAX_SOURCE_BYTES = bodyLimits.importedFile.most'],
  },
  {
    file: 'src/import/sqlite.ts',
    uses: 'node-sqlite3-wasm',
    limit: ['src/console/html/organization/import.tsx', 'MAX_SOURCE_BYTES = bodyLimits.importedFile.most'],
  },

  {
    file: 'src/core/markdown/markdown.ts',
    uses: 'micromark',
    limit: ['src/status/timeline/timeline-limits.ts', 'proseText(MAX_MESSAGE_LENGTH)'],
  },
  {
    file: 'src/docs/guide.ts',
    uses: 'micromark',
    limit: ['src/docs/docs-worker.ts', 'readFile(new URL(fileOf(slug), root)'],
  },
  { file: 'src/docs/search.ts', uses: 'minisearch', limit: [undefined, 'slice(0, MAX_WORDS * MAX_WORD_LENGTH)'] },
  {
    file: 'src/monitoring/probe/json-assertion.ts',
    uses: 'json-p3',
    limit: ['src/monitoring/probe/http-options.ts', 'jsonPath = cappedText(200)'],
  },
  {
    file: 'src/monitoring/probe/pattern-match.ts',
    uses: 're2js',
    limit: ['src/monitoring/probe/pattern.ts', 'cappedText(200)'],
  },
  {
    file: 'src/monitoring/watch/cron.ts',
    uses: 'croner',
    limit: ['src/monitoring/probe/heartbeat.ts', 'schedule = trimmedText(100)'],
  },
  {
    file: 'src/status/maintenance/recurrence.ts',
    uses: 'rrule-temporal',
    limit: [undefined, 'rule.length > MAX_RULE_LENGTH'],
  },
  {
    file: 'src/people/credential/passkey-worker.ts',
    uses: '@simplewebauthn/server',
    limit: ['src/people/credential/passkey.ts', '.max(100_000)'],
  },
  {
    file: 'src/people/sign-in/openid.ts',
    uses: 'openid-client',
    limit: ['src/core/input-limits.ts', 'parameter: limit('],
  },

  // Expressions made of our own words.
  { file: 'src/blacklist/target.ts', uses: 'RegExp', limit: [undefined, 'const number = String.raw'] },
  {
    file: 'src/core/email-address.ts',
    uses: 'domainToASCII',
    limit: [undefined, '.max(MAX_LENGTH, { abort: true, error: tooLong })\n  .overwrite(withAsciiDomain)'],
  },
  { file: 'src/cli/paint.ts', uses: 'RegExp', limit: [undefined, 'Object.values(codes)'] },
  { file: 'src/configuration/format.ts', uses: 'RegExp', limit: [undefined, "sections.join('|')"] },
  { file: 'src/core/id.ts', uses: 'RegExp', limit: [undefined, 'otherPrefixes[type]'] },
  { file: 'src/http/response/encoding.ts', uses: 'RegExp', limit: [undefined, "acceptingPattern('br')"] },
  { file: 'src/import/gatus-conditions.ts', uses: 'RegExp', limit: [undefined, 'const PATH ='] },
  { file: 'src/integration/integration.ts', uses: 'RegExp', limit: [undefined, 'SECRET_LENGTH}}$`'] },
  { file: 'src/language/isolate.ts', uses: 'RegExp', limit: [undefined, 'const [START, END]'] },
  { file: 'src/monitoring/probe/certificate-expiry.ts', uses: 'RegExp', limit: [undefined, 'CERTIFICATE'] },
  { file: 'src/notification/subscriber/csv.ts', uses: 'RegExp', limit: [undefined, "',' | ';'"] },
  { file: 'src/status-page/html/parts.tsx', uses: 'RegExp', limit: [undefined, 'randomBytes(12)'] },
  // Only its form is checked: the thread that runs it compiles it with RE2.
  { file: 'src/monitoring/probe/pattern.ts', uses: 'RegExp', limit: [undefined, 'cappedText(200)'] },
]

let offences: readonly Offence[]
beforeAll(async () => {
  offences = await linter.lintFiles(sources)
}, 120_000)

const shown = ({ file, line, message }: Offence) => `${file}:${line} ${message}`

describe('text of strangers', () => {
  test('is searched with expressions that take linear time', () => {
    expect(offences.filter(({ rule }) => rule.startsWith('regexp/')).map(shown)).toEqual([])
  })

  test('is checked by code only after its length', () => {
    const found = offences.filter(({ rule, file }) => rule === 'text/capped-first' && file !== OPERATORS)
    expect(found.map(shown)).toEqual([])
  })

  test('reaches parsers only in the modules that limit it', () => {
    const found = offences.filter(({ rule }) => rule === 'text/costly')
    expect([...new Set(found.map(({ file, message }) => `${file} ${message}`))].sort()).toEqual(
      permitted.map(({ file, uses }) => `${file} ${uses}`).sort(),
    )
  })

  test.each(permitted)('$file limits what it gives to $uses', ({ file, limit: [owner = file, name] }) => {
    expect(readFileSync(owner, 'utf8')).toContain(name)
  })

  test('is checked by this linter', () => {
    expect(offences.filter(({ rule }) => rule === 'parser').map(shown)).toEqual([])
  })
})

describe('the linter', () => {
  const rulesOf = async (text: string) => (await linter.lint('src/core/planted.ts', text)).map(({ rule }) => rule)

  test.each([
    ['trailing characters', `export const trim = (text: string) => text.replace(/-+$/g, '')`],
    ['the end of a line', String.raw`export const found = (text: string) => /^\s*(\w*)\s*(.*?)\s*$/.exec(text)`],
    ['an expression from a text', `export const all = new RegExp('^(a+)+$')`],
  ])('reports an expression for %s', async (_, text) => {
    expect((await rulesOf(text)).filter((rule) => rule.startsWith('regexp/'))).not.toEqual([])
  })

  test.each([
    ['normalize', `export const plain = (text: string) => text.normalize('NFKC')`],
    ['a parser', `import { parse } from 'tldts'\nexport const domain = (name: string) => parse(name).domain`],
    ['a parser that loads later', `export const load = () => import('yaml')`],
    ['a built expression', 'export const find = (word: string) => new RegExp(word)'],
    ['conversions of names', `import { domainToASCII } from 'node:url'\nexport const ascii = domainToASCII`],
  ])('reports %s', async (_, text) => {
    expect(await rulesOf(text)).toContain('text/costly')
  })

  test('reports a check of text without a limit', async () => {
    const schema = (text: string) => `import { z } from 'zod'\nexport const schema = ${text}`
    expect(await rulesOf(schema('z.string().max(9).refine((text) => text !== "")'))).toEqual(['text/capped-first'])
    expect(await rulesOf(schema('z.string().transform(Number)'))).toEqual(['text/capped-first'])
    expect(await rulesOf(schema('z.string().max(9, { abort: true }).refine((text) => text !== "")'))).toEqual([])
  })
})

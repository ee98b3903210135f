// @slow
import { readdirSync, readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import '../support/built.ts'

/** What esbuild leaves to the build to escape, each written as one line, with its characters beyond ASCII. */
interface Spellings {
  readonly expressions: readonly string[]
  readonly templates: readonly string[]
}

const contents: Readonly<Record<string, readonly string[]>> = JSON.parse(readFileSync('dist/contents.json', 'utf8'))
/** Fonts, styles and pictures are inputs as well. */
const isCode = (path: string) => /\.[cm]?[jt]sx?$/.test(path)
const isBeyondAscii = (text: string) => /\P{ASCII}/u.test(text)

describe.each(Object.entries(contents))('the bundle %s', (bundle, inputs) => {
  const code = readFileSync(`dist/${bundle}`, 'utf8')
  const built = spellingsIn(code)
  const sources = inputs
    .filter(isCode)
    .map(sourceOf)
    .filter(({ text }) => /\P{ASCII}|\\u/u.test(text))
  const written = sources.map((source) => spellingsIn(compiled(source)))

  test('is ASCII', () => {
    expect(isBeyondAscii(code)).toBe(false)
  })

  test.each(['expressions', 'templates'] as const)('has the %s of its sources', (kind) => {
    const all = new Set(written.flatMap((source) => source[kind]))
    expect(built[kind].filter((each) => !all.has(each))).toEqual([])
  })
})

test('only the program itself contains the ORM: commands and workers start fast, and the package stays small', () => {
  const withOrm = Object.entries(contents).filter(([, inputs]) => inputs.includes('src/generated/prisma/client.ts'))
  expect(withOrm.map(([bundle]) => bundle)).toEqual(['app/program.cjs'])
})

test('the service has the expressions and templates beyond ASCII of its language files', () => {
  const { expressions, templates } = spellingsIn(readFileSync('dist/app/program.cjs', 'utf8'))
  expect(expressions).toContain('/[.。]$/')
  const files = readdirSync('src/language').filter((file) => file.endsWith('.ts'))
  const texts = files.flatMap((file) => spellingsIn(compiled(sourceOf(`src/language/${file}`))).templates)
  expect(texts).toContain('["Page d’état par ",""]')
  expect(texts.filter((each) => !templates.includes(each))).toEqual([])
})

interface Source {
  readonly path: string
  readonly text: string
}

function sourceOf(path: string): Source {
  return { path, text: readFileSync(path, 'utf8') }
}

/** The source as JavaScript, as it is spelled. */
function compiled({ path, text }: Source): string {
  const loader = /\.tsx$/.test(path) ? 'tsx' : /\.[cm]?ts$/.test(path) ? 'ts' : 'js'
  return transformSync(text, { loader, charset: 'utf8', jsx: 'automatic' }).code
}

/** Finds the regular expressions and tagged templates beyond ASCII in a program, escapes or not. */
function spellingsIn(code: string): Spellings {
  const nodes = nodesOf(parseAst(code))
  const expressions = nodes.flatMap(({ regex }) => (regex ? [`/${unescaped(regex.pattern)}/${regex.flags}`] : []))
  const templates = nodes.flatMap(({ type, quasi }) => {
    return type === 'TaggedTemplateExpression' ? [JSON.stringify(quasi?.quasis?.map(({ value }) => value.cooked))] : []
  })
  return { expressions: expressions.filter(isBeyondAscii), templates: templates.filter(isBeyondAscii) }
}

interface SyntaxNode {
  readonly type?: string
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly quasi?: { readonly quasis?: readonly { readonly value: { readonly cooked: string } }[] }
}

function nodesOf(tree: unknown): SyntaxNode[] {
  const nodes: SyntaxNode[] = []
  const pending: unknown[] = [tree]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue
    if (!Array.isArray(node)) nodes.push(node)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) pending.push(value)
  }
  return nodes
}

/** A pattern with the characters that its escapes mean. */
function unescaped(pattern: string): string {
  return pattern.replace(/\\(u([\da-f]{4})|[\s\S])/gi, (written, _, digits) => {
    return digits === undefined ? written : String.fromCharCode(Number.parseInt(digits, 16))
  })
}

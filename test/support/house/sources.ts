import { readdirSync, readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'

/** Rooms from the bottom up. A room imports only rooms before it, types included. */
export const rooms = [
  'build',
  'client',
  'core',
  'language',
  'database',
  'backup',
  'network',
  'event-log',
  'http',
  'graphql',
  'account',
  'people',
  'blacklist',
  'status',
  'monitoring',
  'notification',
  'alerting',
  'integration',
  'billing',
  'status-page',
  'configuration',
  'import',
  'diagnosis',
  'docs',
  'console',
  'demo',
  'app',
  'cli',
]

/** Returns the room of a file; '' for the entry points beside the rooms. */
export const roomOf = (file: string): string => /^src\/([\w-]+)\//.exec(file)?.[1] ?? ''

/** Returns the files below a folder that hold code, without what is generated, as `src/room/file.ts`. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|m?js)$/.test(file) && !file.startsWith('generated') && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`)
    .sort()
}

/** A node of a syntax tree, as ESTree names it. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** Returns whether a member of a node is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** Parses a source. @throws Error when it has a syntax error. */
export function parse(file: string, source: string): SyntaxNode {
  const { program, errors } = parseSync(file, source)
  const [error] = errors
  if (error) throw new Error(`${file}: ${error.message}`)
  return program as unknown as SyntaxNode
}

/** Calls `visit` with every node of a tree, parents first. */
export function forEachNode(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node)
  for (const name in node) {
    const member = node[name]
    if (Array.isArray(member)) {
      for (const each of member) if (isNode(each)) forEachNode(each, visit)
    } else if (isNode(member)) forEachNode(member, visit)
  }
}

/** Returns the text of a file. */
export const read = (file: string): string => readFileSync(file, 'utf8')

import { readdirSync, readFileSync } from 'node:fs'

/** A code block in the README or a guide. */
export interface Example {
  /** The file and the line at which the block begins: `docs/graphql.md:12`. */
  readonly place: string
  readonly language: string
  readonly code: string
}

/** The README, the changelog and every guide, by their paths from the repository's root. */
export function documentation(): ReadonlyMap<string, string> {
  const guides = readdirSync('docs').filter((name) => name.endsWith('.md'))
  const files = ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...guides.map((name) => `docs/${name}`)]
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
}

/** Returns the code blocks in these files. */
export function examples(): Example[] {
  return [...documentation()].flatMap(([file, text]) =>
    [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map((match) => {
      const [, indent = '', language = '', code = ''] = match
      const line = text.slice(0, match.index).split('\n').length
      return { place: `${file}:${line}`, language, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
    }),
  )
}

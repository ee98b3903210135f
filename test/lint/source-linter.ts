import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { transformSync } from 'esbuild'
import { ESLint, type Linter } from 'eslint'

/** A place where a source breaks a rule. */
export interface Offence {
  /** A path under the root. */
  readonly file: string
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** All sources, those for browsers and builds included. */
export const sources: readonly string[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(tsx?|m?js)$/.test(file) && !file.startsWith('generated'))
  .map((file) => `src/${file}`)

/**
 * Creates a linter of sources by rules of ESLint, which sees them as JavaScript: its parser for TypeScript does not know
 * this version of the language.
 */
export function sourceLinter(config: Pick<Linter.Config, 'plugins' | 'rules'>) {
  const eslint = new ESLint({ overrideConfigFile: true, overrideConfig: [{ files: ['**/*.js'], ...config }] })
  const lint = async (file: string, text: string): Promise<Offence[]> => {
    const loader = file.endsWith('.tsx') ? 'tsx' : 'ts'
    const { code, map } = transformSync(text, { loader, target: 'esnext', jsx: 'automatic', sourcemap: 'external' })
    const lines = new SourceMap(JSON.parse(map))
    // The rules that need the file's name read it from here.
    const [result] = await eslint.lintText(code, { filePath: `${file.replace(/\.\w+$/, '')}.js` })
    return (result?.messages ?? []).map(({ ruleId, line, column, message }) => {
      const origin = lines.findEntry(line - 1, column - 1)
      return { file, line: 'originalLine' in origin ? origin.originalLine + 1 : 0, rule: ruleId ?? 'parser', message }
    })
  }
  return {
    /** Returns the offences of a text that stands in a file. */
    lint,
    /** Returns the offences of files. */
    lintFiles: async (files: readonly string[]): Promise<Offence[]> =>
      (await Promise.all(files.map((file) => lint(file, readFileSync(file, 'utf8'))))).flat(),
  }
}

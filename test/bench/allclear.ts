import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { root } from '../../src/core/process/paths.ts'

/**
 * Runs a command of the bundled `allclear` as a user does, and returns its standard output.
 * @param onLine receives each line for people.
 * @throws Error with its output when it fails.
 */
export async function runAllclear(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => {},
): Promise<string> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('dist/allclear.js', root)), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    output.push(line)
    onLine(line)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`allclear ${args.join(' ')} ended with ${code}: ${output.join('\n')}`)
  return out
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Failure, type Terminal } from './command.ts'
import { printable } from './paint.ts'

/** Creates the terminal of this process's streams. @param now the clock. */
export function processTerminal(env: Terminal['env'], now: () => Date): Terminal {
  const isPerson = process.stdout.isTTY === true
  const ending = new AbortController()
  // A second Ctrl-C ends the process as usual.
  process.once('SIGINT', () => ending.abort())
  // `allclear tail | head` closes standard output.
  process.stdout.on('error', () => process.exit(0))
  const progress = progressOn(process.stderr)
  return {
    env,
    now,
    signal: ending.signal,
    isPerson,
    hasColours: isPerson && !env['NO_COLOR'],
    result(line) {
      progress(null)
      process.stdout.write(`${line}\n`)
    },
    document(text) {
      progress(null)
      process.stdout.write(text)
    },
    say(line) {
      progress(null)
      process.stderr.write(`${line}\n`)
    },
    progress,
    ask(question, isSecret) {
      progress(null)
      return ask(question, isSecret)
    },
    edit(draft) {
      progress(null)
      return edit(draft, env)
    },
  }
}

/** A stream that may be a terminal. */
interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Returns a function that replaces the last line of a terminal by a text, or clears it (null). Ignores other streams. */
export function progressOn(screen: Screen): (text: string | null) => void {
  let isShown = false
  return (text) => {
    if (screen.isTTY !== true) return
    // Erase the line (ECMA-48 §8.3.41).
    if (isShown) screen.write('\r\u001b[2K')
    isShown = text !== null
    if (text !== null) screen.write(printable(text).slice(0, (screen.columns ?? 80) - 1))
  }
}

/** Asks at the terminal. Without one, reads a secret from standard input and answers null to other questions. */
async function ask(question: string, isSecret = false): Promise<string | null> {
  if (!process.stdin.isTTY) return isSecret ? ((await text(process.stdin)).split('\n')[0] ?? '') : null
  const quiet = new Writable({ write: (_chunk, _encoding, done) => done() })
  process.stderr.write(question)
  const output = isSecret ? quiet : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: isSecret })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}

async function edit(draft: string, env: Terminal['env']): Promise<string> {
  const editor = env['VISUAL'] || env['EDITOR']
  if (!editor) throw new Failure('Add --message, or set $EDITOR to write the text in an editor.')
  const directory = await mkdtemp(join(tmpdir(), 'allclear-'))
  try {
    const file = join(directory, 'message.md')
    await writeFile(file, draft, { mode: 0o600 })
    // Like git: the variable may contain arguments.
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Failure(`The editor exited with ${code}, so nothing was sent.`)
    return await readFile(file, 'utf8')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

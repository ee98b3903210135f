import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Failure, type Terminal } from './command.ts'

/** Connects commands to this process's streams. @param now tells the time. */
export function processTerminal(env: Terminal['env'], now: () => Date): Terminal {
  const isPerson = process.stdout.isTTY === true
  const ending = new AbortController()
  // The second Ctrl-C ends the process as usual.
  process.once('SIGINT', () => ending.abort())
  // `allclear tail | head` closes it.
  process.stdout.on('error', () => process.exit(0))
  return {
    env,
    now,
    signal: ending.signal,
    isPerson,
    hasColours: isPerson && !env['NO_COLOR'],
    result: (line) => void process.stdout.write(`${line}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    ask,
    edit: (draft) => edit(draft, env),
  }
}

/** Asks a person, or reads what is piped in, as the answer to a secret. */
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
  if (!editor) throw new Failure('Give the text with --message, or set $EDITOR to write it there.')
  const directory = await mkdtemp(join(tmpdir(), 'allclear-'))
  try {
    const file = join(directory, 'message.md')
    await writeFile(file, draft, { mode: 0o600 })
    // As git does: the variable may hold arguments.
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Failure(`The editor ended with ${code}, so nothing was sent.`)
    return await readFile(file, 'utf8')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

import { readFile } from 'node:fs/promises'
import { loadBundle } from '../core/compiled-bundle.ts'
import { isBundled } from '../core/worker-thread.ts'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf } from './command.ts'

type Program = typeof import('../app/program.ts')

/** The service's own program, which knows the database; only these commands need it. */
async function loadProgram(): Promise<Program> {
  // Not a literal, which would put the program into this file's bundle.
  const source: string = '../app/program.ts'
  return isBundled ? loadBundle<Program>('app/program').exports : import(source)
}

const options = { 'passphrase-file': { type: 'string' } } as const
const describe = { 'passphrase-file': 'a file whose first line encrypts it ($ALLCLEAR_BACKUP_PASSPHRASE)' }
const SETTINGS =
  'It takes DATA_DIR, DATABASE_URL and SECRET_KEY as the service does, and runs on the service’s machine.'

/** Backs the database up. */
export const backup: Command = {
  usage: 'FILE',
  summary: 'Back up the database and the secret key to a new file, while the service runs',
  details: SETTINGS,
  options,
  describe,
  async run(input, terminal) {
    const file = fileOf(input, 'backup')
    const passphrase = await passphraseOf(input, terminal)
    const { backUp } = await loadProgram()
    const failure = await backUp(file, { env: terminal.env, passphrase, now: terminal.now() })
    if (failure !== null) throw new Failure(failure)
    const hint = passphrase === null ? ' It is not encrypted and may hold the secret key: keep it as safe as that.' : ''
    terminal.say(`Written to ${file}.${hint}`)
    if (input.json) terminal.result(JSON.stringify({ file, encrypted: passphrase !== null }))
    return EXIT.ok
  },
}

/** Restores a backup. */
export const restore: Command = {
  usage: 'FILE',
  summary: 'Restore a backup into an empty data directory or database',
  details: SETTINGS,
  options,
  describe,
  async run(input, terminal) {
    const file = fileOf(input, 'restore')
    const { restore: run } = await loadProgram()
    const restored = await run(file, { env: terminal.env, passphrase: await passphraseOf(input, terminal) })
    if (typeof restored === 'string') throw new Failure(restored)
    const key = restored.hasKey ? 'The secret key came with it.' : 'Set the same SECRET_KEY as before.'
    terminal.say(`Restored ${restored.rows} rows. ${key} Start the service.`)
    if (input.json) terminal.result(JSON.stringify(restored))
    return EXIT.ok
  },
}

/** Moves the database to another place. */
export const move: Command = {
  usage: '--to URL|DIR',
  summary: 'Move the embedded database to a PostgreSQL server, or back, with the service stopped for seconds',
  details: `${SETTINGS}
It copies while the service runs, says when to stop it, and catches up once it has stopped. The place has to be empty; the source stays.`,
  options: { to: { type: 'string' } },
  describe: { to: 'an empty database, postgresql://…, or an empty directory' },
  async run(input, terminal) {
    const place = textOf(input, 'to')
    if (place === undefined || input.words.length > 0)
      throw new Failure('Name the place: allclear move --to postgresql://…')
    const watcher = {
      copied: (rows: number) => terminal.say(`Copied ${rows} rows.`),
      waiting: () =>
        terminal.say('Stop the service now, all instances of it. The rest follows as soon as it has stopped.'),
    }
    const { move: run } = await loadProgram()
    const moved = await run(place, { env: terminal.env, watcher })
    if (typeof moved === 'string') throw new Failure(moved)
    const rows = [...moved.counts.values()].reduce((sum, count) => sum + count, 0)
    const setting = /^postgres/.test(place)
      ? 'DATABASE_URL to this address'
      : 'DATA_DIR to this directory and unset DATABASE_URL'
    terminal.say(
      `Caught up with ${moved.caughtUp} rows in ${(moved.stoppedMs / 1000).toFixed(1)} s. Both sides have ${rows} rows in ${moved.counts.size} tables. Set ${setting}, keep secret.key or SECRET_KEY, and start the service.`,
    )
    if (input.json) terminal.result(JSON.stringify({ ...moved, counts: Object.fromEntries(moved.counts) }))
    return EXIT.ok
  },
}

function fileOf({ words }: Input, command: string): string {
  const [file, ...more] = words
  if (file === undefined || more.length > 0) throw new Failure(`Name one file: allclear ${command} FILE`)
  return file
}

async function passphraseOf(input: Input, { env }: Terminal): Promise<string | null> {
  const file = textOf(input, 'passphrase-file')
  if (file === undefined) return env['ALLCLEAR_BACKUP_PASSPHRASE'] || null
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Failure(`The passphrase cannot be read: ${error.message}`)
  })
  const [first = ''] = text.split('\n')
  if (first.trim() === '') throw new Failure(`${file} has no passphrase in its first line.`)
  return first.trimEnd()
}

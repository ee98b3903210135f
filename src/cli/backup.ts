import { readFile } from 'node:fs/promises'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf } from './command.ts'
import { jsonText } from './paint.ts'
import { loadProgram } from './program.ts'

const options = { 'passphrase-file': { type: 'string' } } as const
const backupOptions = { ...options, unencrypted: { type: 'boolean' } } as const
const describe = { 'passphrase-file': 'a file with the passphrase in its first line ($ALLCLEAR_BACKUP_PASSPHRASE)' }
const SETTINGS = 'Run it on the machine of the service, with the same DATA_DIR, DATABASE_URL and SECRET_KEY.'

/** Backs up the database. */
export const backup: Command = {
  usage: 'FILE',
  summary: 'Back up the database and the secret key to a new file, while the service runs',
  details: SETTINGS,
  examples: [
    'allclear backup /backup/allclear.backup',
    'allclear backup /backup/allclear.backup --passphrase-file key.txt',
  ],
  exitCodes: { 0: 'backup written' },
  options: backupOptions,
  describe: { ...describe, unencrypted: 'do not ask for a passphrase; the file may contain the secret key' },
  async run(input, terminal) {
    const file = fileOf(input, 'backup')
    const passphrase = (await passphraseOf(input, terminal)) ?? (await newPassphrase(input, terminal))
    const { backUp } = await loadProgram()
    const failure = await backUp(file, { env: terminal.env, passphrase, now: terminal.now() })
    if (failure !== null) throw new Failure(failure)
    const hint = passphrase === null ? ' It is not encrypted and may contain the secret key: store it safely.' : ''
    terminal.say(`Wrote ${file}.${hint}`)
    if (input.json) terminal.result(jsonText({ file, encrypted: passphrase !== null }))
    return EXIT.ok
  },
}

/** Restores a backup. */
export const restore: Command = {
  usage: 'FILE',
  summary: 'Restore a backup into an empty data directory or database',
  details: SETTINGS,
  examples: ['DATA_DIR=/var/lib/allclear allclear restore /backup/allclear.backup'],
  exitCodes: { 0: 'restored' },
  options,
  describe,
  async run(input, terminal) {
    const file = fileOf(input, 'restore')
    const { restore: run, isEncrypted } = await loadProgram()
    const encrypted = await isEncrypted(file)
    if (typeof encrypted === 'string') throw new Failure(encrypted)
    const given = await passphraseOf(input, terminal)
    const passphrase = given ?? (encrypted ? (await terminal.ask('Passphrase: ', true)) || null : null)
    const restored = await run(file, { env: terminal.env, passphrase })
    if (typeof restored === 'string') throw new Failure(restored)
    const key = restored.hasKey ? 'Restored the secret key too.' : 'Set the same SECRET_KEY as before.'
    terminal.say(`Restored ${restored.rows} rows. ${key} You can start the service now.`)
    if (input.json) terminal.result(jsonText(restored))
    return EXIT.ok
  },
}

/** Moves the database to another server or directory. */
export const move: Command = {
  usage: '--to URL|DIR',
  summary: 'Move the embedded database to a PostgreSQL server, or back, with the service stopped for seconds',
  details: `${SETTINGS}
Copies the data while the service runs, catches up, tells you when to stop the service, and applies the last changes once it has stopped. The destination must be empty. The source stays unchanged.`,
  examples: [
    'allclear move --to postgresql://allclear@db.example.com/allclear',
    'DATABASE_URL=postgresql://allclear@db.example.com/allclear allclear move --to /var/lib/allclear',
  ],
  exitCodes: { 0: 'moved, with the same number of rows on both sides' },
  options: { to: { type: 'string' } },
  describe: { to: 'an empty database, postgresql://…, or an empty directory' },
  async run(input, terminal) {
    const destination = textOf(input, 'to')
    if (destination === undefined || input.words.length > 0)
      throw new Failure('Give the destination: allclear move --to postgresql://…')
    const watcher = {
      copied: (rows: number) => terminal.say(`Copied ${rows} rows.`),
      waiting: () =>
        terminal.say('Stop all instances of the service now. The move finishes as soon as they have stopped.'),
    }
    const { move: run } = await loadProgram()
    const moved = await run(destination, { env: terminal.env, watcher })
    if (typeof moved === 'string') throw new Failure(moved)
    const rows = [...moved.counts.values()].reduce((sum, count) => sum + count, 0)
    const setting = /^postgres/.test(destination)
      ? 'DATABASE_URL to this address'
      : 'DATA_DIR to this directory and unset DATABASE_URL'
    terminal.say(
      `Caught up with ${moved.caughtUp} rows in ${(moved.stoppedMs / 1000).toFixed(1)} s. Both sides have ${rows} rows in ${moved.counts.size} tables. Set ${setting}, keep secret.key or SECRET_KEY, and start the service.`,
    )
    if (input.json) terminal.result(jsonText({ ...moved, counts: Object.fromEntries(moved.counts) }))
    return EXIT.ok
  },
}

function fileOf({ words }: Input, command: string): string {
  const [file, ...more] = words
  if (file === undefined || more.length > 0) throw new Failure(`Give one file: allclear ${command} FILE`)
  return file
}

/** Asks for a passphrase, unless the backup is to be unencrypted, or nobody can answer. Null: not encrypted. */
async function newPassphrase({ options }: Input, terminal: Terminal): Promise<string | null> {
  if (options['unencrypted'] === true) return null
  const content = terminal.env['SECRET_KEY'] ? 'all data' : 'all data and the secret key'
  const answer = await terminal.ask(`The file will contain ${content}. Encrypt it with a passphrase? [Y/n] `)
  if (answer === null || /^n(o)?$/i.test(answer.trim())) return null
  const passphrase = (await terminal.ask('Passphrase: ', true)) ?? ''
  if (passphrase === '')
    throw new Failure('Nothing was written: the passphrase is empty. Without one, add --unencrypted.')
  if ((await terminal.ask('Passphrase again: ', true)) !== passphrase)
    throw new Failure('Nothing was written: the passphrases differ.')
  return passphrase
}

async function passphraseOf(input: Input, { env }: Terminal): Promise<string | null> {
  const file = textOf(input, 'passphrase-file')
  if (file === undefined) return env['ALLCLEAR_BACKUP_PASSPHRASE'] || null
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Failure(`Cannot read the passphrase: ${error.message}`)
  })
  const [first = ''] = text.split('\n')
  if (first.trim() === '') throw new Failure(`${file} has no passphrase in its first line.`)
  return first.trimEnd()
}

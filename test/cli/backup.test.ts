// @slow
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { isEncrypted, verifyArchive } from '../../src/backup/archive.ts'
import { runCommand } from '../../src/cli/run.ts'
import { openDatabase } from '../../src/database/client.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const { path, remove } = await temporaryDirectory()
atTheEnd(remove)
const dataDir = join(path, 'data')
beforeAll(async () => {
  const database = await openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  await database.close()
})

/** Runs a command at a terminal where a person answers; null: there is none. */
async function allclear(args: readonly string[], given: readonly string[] | null, env: object = {}) {
  const answers = [...(given ?? [])]
  const asked: string[] = []
  const said: string[] = []
  const push = (text: string) => void said.push(text)
  const code = await runCommand(args, {
    env: { HOME: path, DATA_DIR: dataDir, ...env },
    ...{ result: push, document: push, say: push },
    progress: () => undefined,
    ...{ isPerson: given !== null, hasColours: false },
    async ask(question, isSecret) {
      if (given !== null) asked.push(question)
      return given === null ? (isSecret ? '' : null) : (answers.shift() ?? '')
    },
    edit: async (draft) => draft,
    now: () => new Date(),
    signal: new AbortController().signal,
  })
  return { code, asked, said: said.join('\n') }
}

let number = 0
const newFile = () => join(path, `${++number}.backup`)

test.each([
  ['y', 'correct'],
  ['', 'correct'],
])('a backup at a terminal asks for a passphrase, and a restore asks for it too: answer “%s”', async (answer, word) => {
  const file = newFile()
  const { code, asked, said } = await allclear(['backup', file], [answer, word, word])
  expect(code, said).toBe(0)
  expect(asked[0]).toContain('the secret key')
  expect(said).not.toContain(word)
  await verifyArchive(file, word)
  const env = { DATA_DIR: `${file}.data` }
  expect(await allclear(['restore', file], ['wrong'], env)).toMatchObject({ code: 1 })
  expect(await allclear(['restore', file], [word], env)).toMatchObject({ code: 0, asked: ['Passphrase: '] })
})

test.each([
  ['the answer is no', ['n'], ['backup']],
  ['nobody can answer', null, ['backup']],
  ['the option says so', [], ['backup', '--unencrypted']],
] as const)('a backup is not encrypted if %s, and says so', async (_, answers, [command, ...more]) => {
  const file = newFile()
  const { code, said } = await allclear([command, file, ...more], answers)
  expect(code, said).toBe(0)
  expect(said).toContain('not encrypted')
  expect(await isEncrypted(file)).toBe(false)
})

test('a variable gives the passphrase without a question', async () => {
  const file = newFile()
  const { code, asked } = await allclear(['backup', file], [], { ALLCLEAR_BACKUP_PASSPHRASE: 'from the variable' })
  expect({ code, asked }).toEqual({ code: 0, asked: [] })
  await verifyArchive(file, 'from the variable')
})

test.each([
  ['empty', ['y', '']],
  ['different', ['y', 'one', 'other']],
])('nothing is written if the passphrase is %s', async (_, answers) => {
  const file = newFile()
  const { code, said } = await allclear(['backup', file], answers)
  expect(code).toBe(1)
  expect(said).toContain('Nothing was written')
  expect(existsSync(file)).toBe(false)
})

test('a file that is no backup is refused with a sentence', async () => {
  const { code, said } = await allclear(['restore', new URL(import.meta.url).pathname], null)
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('isn’t a backup') })
  expect(await readFile(new URL(import.meta.url), 'utf8')).toContain('runCommand')
})

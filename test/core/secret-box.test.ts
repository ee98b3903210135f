import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/core/config.ts'
import { StartError } from '../../src/core/errors.ts'
import { createSecretBox, openSecretBox } from '../../src/core/secret-box.ts'
import { testDatabase } from '../support/database.ts'
import { temporaryDirectory } from '../support/scratch.ts'

const { prisma: db } = await testDatabase()
const long = 'a secret key of the tests, long enough'

describe('a secret box', () => {
  const seal = createSecretBox(Buffer.alloc(32, 7))

  test.each(['', 'Bearer s3cret', 'Grüße, 世界 🔑', 'x'.repeat(70_000)])('opens what it sealed', (secret) => {
    const sealed = seal.seal(secret, 'mon_1 body')
    expect(sealed).toMatch(/^s1\.[\w-]+$/)
    expect(seal.open(sealed, 'mon_1 body')).toBe(secret)
  })

  test('returns a different sealed text each time, without the secret', () => {
    const sealed = ['a', 'b'].map(() => seal.seal('s3cret', 'mon_1 body'))
    expect(sealed[0]).not.toBe(sealed[1])
    for (const text of sealed) {
      expect(Buffer.from(text.slice(3), 'base64url').includes('s3cret')).toBe(false)
    }
  })

  test('opens only with the same key and associated data', () => {
    const sealed = seal.seal('s3cret', 'mon_1 body')
    expect(() => seal.open(sealed, 'mon_2 body')).toThrow()
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, 'mon_1 body')).toThrow()
  })

  test('rejects modified, truncated and unsealed text', () => {
    const sealed = seal.seal('s3cret', 'mon_1 body')
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => seal.open(`s1.${changed.toString('base64url')}`, 'mon_1 body')).toThrow()
      expect(() => seal.open(`s1.${bytes.subarray(0, at).toString('base64url')}`, 'mon_1 body')).toThrow()
    }
    for (const text of ['', 's3cret', 's1.', `s2.${sealed.slice(3)}`]) {
      expect(() => seal.open(text, 'mon_1 body')).toThrow()
    }
  })
})

describe('the secret box of an installation', () => {
  beforeEach(async () => {
    await db.sealKey.deleteMany()
  })

  async function dataDir(): Promise<string> {
    const { path, remove } = await temporaryDirectory()
    onTestFinished(remove)
    return path
  }
  const start = (settings: NodeJS.ProcessEnv) => openSecretBox({ config: readConfig(settings), db })

  test('creates its key once, in a file only its owner can read', async () => {
    const path = join(await dataDir(), 'not', 'there', 'yet')
    const first = await start({ DATA_DIR: path })
    const again = await start({ DATA_DIR: path })
    expect(again.open(first.seal('s3cret', 'x'), 'x')).toBe('s3cret')
    expect(await readdir(path)).toEqual(['secret.key'])
    expect((await stat(join(path, 'secret.key'))).mode & 0o777).toBe(0o600)
  })

  test('shares one key among concurrent starts', async () => {
    const path = await dataDir()
    const seals = await Promise.all(Array.from({ length: 8 }, () => start({ DATA_DIR: path })))
    for (const seal of seals) expect(seal.open(seals[0]?.seal('s3cret', 'x') ?? '', 'x')).toBe('s3cret')
    expect(await readdir(path)).toEqual(['secret.key'])
  })

  test('derives the same key from SECRET_KEY and from a file with that content', async () => {
    const path = await dataDir()
    const own = await start({ DATA_DIR: path })
    const content = await readFile(join(path, 'secret.key'), 'utf8')
    const elsewhere = await dataDir()
    const given = await start({ DATA_DIR: elsewhere, SECRET_KEY: content.trim() })
    expect(given.open(own.seal('s3cret', 'x'), 'x')).toBe('s3cret')
    expect(await readdir(elsewhere)).toEqual([])
  })

  test('refuses to start with another key and describes what to do', async () => {
    await start({ SECRET_KEY: long })
    const another = start({ SECRET_KEY: `${long}!` })
    await expect(another).rejects.toThrow(StartError)
    await expect(another).rejects.toThrow(/^SECRET_KEY is not the key .* Set SECRET_KEY to the same value on every/)
    const path = await dataDir()
    await expect(start({ DATA_DIR: path })).rejects.toThrow(`the key in ${join(path, 'secret.key')} is not the key`)
    await expect(start({ SECRET_KEY: long })).resolves.toBeDefined()
  })

  test('does not store the key in the database', async () => {
    await start({ SECRET_KEY: long })
    const [row] = await db.sealKey.findMany()
    expect(row?.fingerprint).toMatch(/^[\da-f]{64}$/)
  })

  test.each(['', 'short'])('refuses a damaged key file (%j)', async (content) => {
    const path = await dataDir()
    await writeFile(join(path, 'secret.key'), content)
    await expect(start({ DATA_DIR: path })).rejects.toThrow(StartError)
    await expect(start({ DATA_DIR: path })).rejects.toThrow('does not contain a key')
    expect(await readFile(join(path, 'secret.key'), 'utf8')).toBe(content)
  })

  test('derives stable, distinct keys for other purposes', async () => {
    const [one, again] = [await start({ SECRET_KEY: long }), await start({ SECRET_KEY: long })]
    expect(one.keyFor('tokens')).toHaveLength(32)
    expect(again.keyFor('tokens')).toEqual(one.keyFor('tokens'))
    expect(one.keyFor('seal')).not.toEqual(one.keyFor('tokens'))
  })

  test('refuses to start where the key file cannot be created', async () => {
    const path = join(await dataDir(), 'file')
    await writeFile(path, '')
    const started = start({ DATA_DIR: join(path, 'data') })
    await expect(started).rejects.toThrow(StartError)
    await expect(started).rejects.toThrow('Set SECRET_KEY')
  })

  test('refuses to start with an unreadable key file', async () => {
    const path = await dataDir()
    await mkdir(join(path, 'secret.key'))
    await expect(start({ DATA_DIR: path })).rejects.toThrow('cannot be read')
  })
})

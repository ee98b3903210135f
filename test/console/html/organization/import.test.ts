// @slow
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'
import { startReceiver } from '../../../support/receiver.ts'
import { temporaryDirectory } from '../../../support/scratch.ts'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')

const { database, organization } = await testConsole({ SMTP_URL: 'smtp://127.0.0.1:1' })
const { prisma } = database

const monitorOf = (id: number, more: object = {}) => ({
  ...{ id, name: `Site ${id}`, type: 'http', active: true, interval: 60, url: `https://site${id}.example.com/` },
  ...more,
})
const backup = (monitorList: readonly object[]) =>
  JSON.stringify({ version: '1.23.16', notificationList: [], monitorList })

/** A form with a chosen file, as a browser sends it. */
function chosen(from: string, content: string, more: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ from, text: '', ...more })) form.set(name, value)
  form.set('file', new File([content], 'backup'))
  return form
}

const preparedIn = (html: string) => /name="prepared" value="([^"]+)"/.exec(html)?.[1] ?? ''
const outcomesIn = (html: string) =>
  [...html.matchAll(/<tr><td>([^<]*)<\/td><td>([^<]*)<\/td><td>([^<]*)<\/td>/g)].map(([, ...cells]) => cells.join(' '))

describe('an import', () => {
  test('previews what would be imported, and then imports it, without a script', async () => {
    const { signIn, organization: own } = await organization('movers')
    const admin = await signIn('ADMIN')
    expect((await admin.get('import')).html).toContain('import?from=uptime-kuma')
    expect((await admin.get('import?from=uptime-kuma')).html).toContain('At most 20 MB')
    const monitors = () => prisma.monitor.findMany({ where: { organizationId: own.id }, orderBy: { name: 'asc' } })

    const file = backup([monitorOf(1), monitorOf(2, { type: 'docker' }), monitorOf(3, { url: 'ftp://a.example' })])
    const dry = await admin.post('import', chosen('uptime-kuma', file))
    expect([dry.status, await monitors()]).toEqual([200, []])
    expect(outcomesIn(dry.html).sort()).toEqual([
      'Created monitor Site 1',
      'Created service Site 1',
      'Skipped monitor Site 2',
      'Skipped monitor Site 3',
      'Skipped service Site 3',
    ])
    const done = await admin.post('import/apply', { prepared: preparedIn(dry.html) })
    expect([done.status, done.html]).toEqual([
      200,
      expect.stringContaining('Imported: 2 changes. No notifications were sent.'),
    ])
    expect((await monitors()).map(({ name }) => name)).toEqual(['Site 1'])
    expect(await prisma.delivery.count()).toBe(0)

    const again = await admin.post('import', { from: 'uptime-kuma', text: file })
    expect([again.html, preparedIn(again.html)]).toEqual([expect.stringContaining('There is nothing to import.'), ''])
    const renamed = await admin.post('import', chosen('uptime-kuma', backup([monitorOf(1, { name: 'Shop' })])))
    expect(outcomesIn(renamed.html)).toEqual(['Changed service Shop', 'Changed monitor Shop'])
  })

  test('reads the database of Uptime Kuma', async () => {
    const { signIn, organization: own } = await organization('kuma')
    await prisma.organization.update({ where: { id: own.id }, data: { tier: 'TEAM' } })
    const admin = await signIn('ADMIN')
    const home = await temporaryDirectory()
    await using _ = { [Symbol.asyncDispose]: home.remove }
    const path = join(home.path, 'kuma.db')
    const kuma = new Database(path)
    kuma.exec(`CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, type TEXT, url TEXT, interval INTEGER);
      CREATE TABLE status_page (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, published BOOLEAN);
      CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT, status_page_id INTEGER);
      CREATE TABLE monitor_group (monitor_id INTEGER, group_id INTEGER);
      INSERT INTO monitor VALUES (1, 'API', 'http', 'https://a.example', 60), (2, 'Shop', 'http', 'https://b.example', 60);
      INSERT INTO status_page VALUES (1, 'shop-status', 'Shop', 1);
      INSERT INTO "group" VALUES (1, 'Front', 1);
      INSERT INTO monitor_group VALUES (2, 1);
      CREATE TABLE stat_daily (monitor_id INTEGER, timestamp INTEGER, up INTEGER, down INTEGER);`)
    const yesterday = Math.floor(Date.now() / 86_400_000 - 1) * 86_400
    kuma.exec(`INSERT INTO stat_daily VALUES (1, ${yesterday}, 1440, 0), (2, ${yesterday}, 1437, 3);`)
    kuma.close()
    const form = chosen('uptime-kuma', '')
    form.set('file', new File([await readFile(path)], 'kuma.db'))
    const { html } = await admin.post('import', form)
    expect(outcomesIn(html)).toEqual(
      expect.arrayContaining(['Created page Shop', 'Created history API', 'Created history Shop']),
    )
    const done = await admin.post('import/apply', { prepared: preparedIn(html) })
    expect(outcomesIn(done.html)).toContain('Created history Shop')
    expect(await prisma.monitor.count({ where: { organizationId: own.id } })).toBe(2)
    const shown = await admin.get('/status/shop-status')
    expect([shown.status, shown.html.includes('>API<')]).toEqual([200, false])
    // Imported records are marked, and count nowhere.
    expect(shown.html).toContain('<path class="importedDown"')
    expect(shown.html).toContain('imported, outage')
    expect(shown.html).not.toMatch(/\d% uptime/)
    const { id = '' } = (await prisma.service.findFirst({ where: { organizationId: own.id, name: 'Shop' } })) ?? {}
    const day = new Date(yesterday * 1000).toISOString().slice(0, 10)
    const { html: ofDay } = await admin.get(`/status/shop-status/services/${id}?day=${day}`)
    expect(ofDay).toContain('Imported from Uptime Kuma (failed checks: 3 of 1,440).')
    expect(ofDay).toContain('Days imported from Uptime Kuma do not count.')
    expect((await admin.get('monitors')).html).toContain('1 imported day with an outage')
    form.set('file', new File([await readFile(path)], 'kuma.db'))
    expect((await admin.post('import', form)).html).toContain('There is nothing to import.')
    expect(shown.html).toContain('Front')
    form.set('file', new File([`SQLite format 3\0${'x'.repeat(5000)}`], 'kuma.db'))
    expect((await admin.post('import', form)).html).toContain('Cannot read this database')
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('allclear-import-'))).toEqual([])
  })

  test('fetches a page of Statuspage by its address, and reports why it cannot', async () => {
    const { signIn } = await organization('fetchers')
    const admin = await signIn('ADMIN')
    const receiver = await startReceiver()
    await using _ = { [Symbol.asyncDispose]: () => receiver.close() }
    for (const [from, name] of [
      ['statuspage', 'address'],
      ['uptimerobot', 'key'],
      ['instatus', 'key'],
    ] as const) {
      expect((await admin.get(`import?from=${from}`)).html).toContain(`id="${name}"`)
    }
    const form = chosen('statuspage', '', { address: receiver.url })
    const wrong = await admin.post('import', form)
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('id="address-problem"')])
    const none = await admin.post('import', chosen('statuspage', ''))
    expect(none.html).toContain('Must be the address of a page')
    const { html } = await admin.post('import', chosen('uptimerobot', '', { key: 'u-secret', text: '{' }))
    expect(html).not.toContain('u-secret')
  })

  test('asks for the values that a Gatus file takes from its environment', async () => {
    const { signIn, organization: own } = await organization('gatus')
    const admin = await signIn('ADMIN')
    const place = '$' + '{HOST}'
    const file = `endpoints: [{name: API, url: "https://${place}/", conditions: ["[STATUS] == 200"]}]`
    const without = await admin.post('import', chosen('gatus', file))
    expect(without.html).toContain('has no value: set HOST')
    const wrong = await admin.post('import', chosen('gatus', file, { variables: 'HOST' }))
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('id="variables-problem"')])
    const { html } = await admin.post('import', chosen('gatus', file, { variables: 'HOST=api.example.com\n' }))
    await admin.post('import/apply', { prepared: preparedIn(html) })
    const { options } = await prisma.monitor.findFirstOrThrow({ where: { organizationId: own.id } })
    expect(options).toMatchObject({ url: 'https://api.example.com/' })
  })

  test('refuses files that are not of the tool, and a dry run of another time or organization', async () => {
    const { signIn, organization: own } = await organization('refused')
    const admin = await signIn('ADMIN')
    for (const text of ['', '{', '[]', '{"monitorList":1}', '\u0000'.repeat(1000)]) {
      const { status, html } = await admin.post('import', chosen('uptime-kuma', text))
      expect([status, html]).toEqual([422, expect.stringContaining('id="file-problem"')])
    }
    expect((await admin.post('import', { from: 'nagios', text: 'x' })).status).toBe(404)
    expect((await admin.post('import/apply', { prepared: 's1.nothing' })).status).toBe(422)

    const { html } = await admin.post('import', chosen('uptime-kuma', backup([monitorOf(1)])))
    const stranger = await (await organization('strangers')).signIn('ADMIN')
    expect((await stranger.post('import/apply', { prepared: preparedIn(html) })).html).toContain(
      'Choose the file again',
    )
    await admin.post('services/new', { name: 'Meanwhile', description: '' })
    await prisma.organization.update({ where: { id: own.id }, data: { tier: 'FREE', tierFloor: 'FREE' } })
    const other = await admin.post('import', chosen('uptime-kuma', backup([monitorOf(1), monitorOf(2)])))
    await admin.post('import/apply', { prepared: preparedIn(other.html) })
    const late = await admin.post('import/apply', { prepared: preparedIn(html) })
    expect([late.status, late.html]).toEqual([422, expect.stringContaining('Something changed since')])
  })

  test('is for admins, from our own pages, and limited in size', async () => {
    const { signIn } = await organization('roles-of-import')
    const editor = await signIn('EDITOR')
    expect((await editor.get('import')).status).toBe(403)
    expect((await editor.get('monitors')).html).not.toContain('/import"')
    const sent = chosen('uptime-kuma', backup([monitorOf(1)]))
    expect((await editor.post('import', sent)).status).toBe(403)
    const admin = await signIn('ADMIN')
    const foreign = { cookie: `allclear_session=${admin.token}`, 'sec-fetch-site': 'cross-site' }
    expect((await admin.post('import', sent, foreign)).status).toBe(403)
    const large = await admin.post('import', chosen('uptime-kuma', ' '.repeat(21_000_000)))
    expect(large.status).toBe(413)
  })
})

// @slow
import { afterAll, describe, expect, test } from 'vitest'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { HOUR } from '../../src/core/time.ts'
import { languages, wordsOf } from '../../src/language/catalogue.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { cancelMaintenance, scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { createService } from '../../src/status/service/service.ts'
import type { OpenGraphImage } from '../../src/status-page/open-graph-image.ts'
import { OPEN_GRAPH_IMAGE_SIZE, openGraphImageSvg, readOpenGraphImage } from '../../src/status-page/open-graph-image.ts'
import { createPngRenderer } from '../../src/status-page/png-renderer.ts'
import { statusShapes } from '../../src/status-page/status-shapes.ts'
import { statusColours } from '../../src/status-page/status-tones.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults } from '../support/markup.ts'
import { startPageServer } from '../support/page-server.ts'
import { uncached } from '../support/uncached.ts'

const { prisma, ...database } = await testDatabase()
const tenant = tenantsOf(prisma)
const pngRenderer = createPngRenderer()
afterAll(() => pngRenderer.close())

const story = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'CRITICAL', message: 'We look.' }
const planned = {
  ...{ title: 'Database upgrade', message: 'We upgrade.' },
  ...{ startsAt: new Date(noon.getTime() + 2 * HOUR), endsAt: new Date(noon.getTime() + 3 * HOUR) },
}
const picture: OpenGraphImage = {
  owner: 'Acme',
  accentColor: '#0b6e5a',
  headline: 'Major outage: API',
  facts: 'Live status',
  status: 'MAJOR_OUTAGE',
}
const linesOf = (svg: string) => [...svg.matchAll(/<text x="268"[^>]*>([^<]*)</g)].map(([, line]) => line)

describe('an Open Graph image', () => {
  test('shows owner, headline and facts with the icon and the colours of the status', () => {
    const svg = openGraphImageSvg(picture)
    expect(svg).toContain('>Acme</text>')
    expect(linesOf(svg)).toEqual(['Major outage: API'])
    expect(svg).toContain('>Live status</text>')
    expect(svg).toContain(`d="${statusShapes.MAJOR_OUTAGE}"`)
    expect(svg).toContain(`fill="${statusColours.MAJOR_OUTAGE.ink}"`)
    expect(nestingFaults(svg)).toEqual([])
  })

  test('cuts text that does not fit and marks the cut', () => {
    const long = linesOf(openGraphImageSvg({ ...picture, headline: 'Deliveries to some of our customers '.repeat(5) }))
    expect(long).toHaveLength(3)
    expect(long.at(-1)).toMatch(/[^ ]…$/)
    const [word, ...rest] = linesOf(openGraphImageSvg({ ...picture, headline: 'W'.repeat(200) }))
    expect(rest).toEqual([])
    expect(word).toMatch(/^W{10,20}…$/)
  })

  test('shows the icon alone where the font lacks the characters', () => {
    const svg = openGraphImageSvg({ ...picture, headline: '', facts: '' })
    expect(linesOf(svg)).toEqual([''])
    expect(svg).toContain('<path transform="translate(540 285)')
  })

  test('escapes any name', () => {
    const hostile = `</text><image href="http://evil.example"/>&'`
    const svg = openGraphImageSvg({ ...picture, owner: hostile, headline: hostile })
    expect(svg).not.toContain('<image')
    expect(nestingFaults(svg)).toEqual([])
  })

  test('shows the current state of the page', async () => {
    const acme = await tenant()
    const { id: serviceId } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    const services = [{ serviceId, status: 'MAJOR_OUTAGE' }]
    const { id } = await createIncident(acme.ctx, { ...story, services })
    const read = async (incident: string | null) =>
      (
        await readOpenGraphImage(
          uncached(prisma, () => noon),
          acme.slug,
          incident === null ? null : { kind: 'incident', id: incident },
          null,
        )
      ).image
    expect(await read(null)).toEqual(picture)
    const facts = 'Investigating · Critical impact · 20 Nov 2026, 12:00 UTC'
    expect(await read(id)).toEqual({ ...picture, headline: 'Payments fail', facts })
    await postIncidentUpdate(acme.later(HOUR), { incidentId: id, status: 'RESOLVED', message: 'Done.' })
    expect(await read(id)).toMatchObject({ status: 'OPERATIONAL', facts: expect.stringContaining('Resolved') })
    expect(await read(null)).toMatchObject({ headline: 'All services are operational', status: 'OPERATIONAL' })
  })

  test.each(languages)('shows a maintenance in %s', async (language) => {
    const acme = await tenant()
    const { id } = await scheduleMaintenance(acme.ctx, planned)
    const imageOf = async (of: string) => {
      const source = uncached(prisma, () => noon)
      return (await readOpenGraphImage(source, acme.slug, { kind: 'maintenance', id: of }, language)).image
    }
    const read = () => imageOf(id)
    const scheduled = await read()
    expect(scheduled).toMatchObject({ owner: 'Acme', headline: 'Database upgrade', status: 'UNDER_MAINTENANCE' })
    // The font has no Chinese and Japanese characters.
    const words = wordsOf(language)
    const isDrawn = language !== 'JA' && language !== 'ZH_HANS'
    expect(scheduled.facts.startsWith(`${words.maintenanceStatus.SCHEDULED} · `)).toBe(isDrawn)
    if (language === 'EN') expect(scheduled.facts).toBe('Scheduled · 20 Nov 2026, 14:00 UTC to 15:00 UTC')
    await cancelMaintenance(acme.ctx, { id })
    expect(await read()).toMatchObject({ headline: 'Database upgrade', status: 'OPERATIONAL' })
    const { id: foreign } = await scheduleMaintenance(acme.ctx, { ...planned, title: '障害' })
    expect((await imageOf(foreign)).headline).toBe(isDrawn ? words.maintenance.maintenance : '')
  })

  test('falls back to other text where its font lacks the characters', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { name: '株式会社アクメ' })
    await createService(acme.ctx, { name: 'Ödsmål – Ελλάδα, Київ', status: 'OPERATIONAL' })
    const read = async (incident: string | null) =>
      (
        await readOpenGraphImage(
          uncached(prisma, () => noon),
          acme.slug,
          incident === null ? null : { kind: 'incident', id: incident },
          null,
        )
      ).image
    expect(await read(null)).toMatchObject({ owner: acme.slug, headline: 'All services are operational' })
    const { id } = await createIncident(acme.ctx, { ...story, title: '障害' })
    expect((await read(id)).headline).toBe('An incident')
    const { id: other } = await createIncident(acme.ctx, { ...story, title: 'Ödsmål – “Ελλάδα” & Київ' })
    expect((await read(other)).headline).toBe('Ödsmål – “Ελλάδα” & Київ')
  })
})

describe('the PNG renderer', () => {
  test('renders a PNG of the declared size, in its own font', async () => {
    const png = await pngRenderer.render(openGraphImageSvg(picture), 'acme')
    expect(sizeOf(png)).toEqual(OPEN_GRAPH_IMAGE_SIZE)
    // An image with text is larger than one without.
    const wordless = await pngRenderer.render(
      openGraphImageSvg({ ...picture, owner: '', headline: '', facts: '' }),
      'acme',
    )
    expect(png.length).toBeGreaterThan(wordless.length + 5000)
  })

  test('rejects when too many images of one organization wait, rejects invalid SVG, and continues', async () => {
    const broken = pngRenderer.render('<svg', 'acme')
    const waiting = Array.from({ length: 5 }, () => pngRenderer.render(openGraphImageSvg(picture), 'acme'))
    const outcomes = Promise.allSettled([broken, ...waiting])
    await expect(pngRenderer.render(openGraphImageSvg(picture), 'acme')).rejects.toThrow('Too many')
    expect(sizeOf(await pngRenderer.render(openGraphImageSvg(picture), 'other'))).toEqual(OPEN_GRAPH_IMAGE_SIZE)
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', ...waiting.map(() => 'fulfilled')])
  })
})

test('the page and each incident have an image over HTTP, rendered once until something changes', async () => {
  const { url } = await startPageServer({ prisma, listen: database.listen }, () => noon)
  const acme = await tenant()
  const { id } = await createIncident(acme.ctx, story)
  const { id: work } = await scheduleMaintenance(acme.ctx, planned)
  const paths = ['picture.png', `incidents/${id}/picture.png?at=5`, `maintenance/${work}/picture.png`]
  for (const path of paths) {
    const response = await fetch(`${url}/status/${acme.slug}/${path}`)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(sizeOf(Buffer.from(await response.arrayBuffer()))).toEqual(OPEN_GRAPH_IMAGE_SIZE)
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(`${url}/status/${acme.slug}/${path}`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  }
  for (const none of [
    'nobody/picture.png',
    `${acme.slug}/incidents/x/picture.png`,
    `${acme.slug}/incidents/${work}/picture.png`,
    `${acme.slug}/maintenance/${id}/picture.png`,
  ]) {
    expect((await fetch(`${url}/status/${none}`)).status).toBe(404)
  }
})

/** The size in a PNG's header (https://www.w3.org/TR/png-3/#11IHDR). */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

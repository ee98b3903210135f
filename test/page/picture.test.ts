import { afterAll, describe, expect, test } from 'vitest'
import { updateOrganization } from '../../src/account/organization.ts'
import { createPainter } from '../../src/page/painter.ts'
import type { Picture } from '../../src/page/picture.ts'
import { PICTURE_SIZE, pictureSvg, readPicture } from '../../src/page/picture.ts'
import { shapes } from '../../src/page/shape.ts'
import { tones } from '../../src/page/tone.ts'
import { createIncident, postIncidentUpdate } from '../../src/status/incident.ts'
import { createService } from '../../src/status/service.ts'
import { HOUR } from '../../src/time.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults } from '../support/markup.ts'
import { startPageServer } from '../support/page-server.ts'

const { prisma, ...database } = await testDatabase()
const tenant = tenantsOf(prisma)
const painter = createPainter()
afterAll(() => painter.close())

const story = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'CRITICAL', message: 'We look.' }
const picture: Picture = {
  owner: 'Acme',
  accentColor: '#0b6e5a',
  sentence: 'There is a major outage of API.',
  facts: 'Live status',
  status: 'MAJOR_OUTAGE',
}
const linesOf = (svg: string) => [...svg.matchAll(/<text x="268"[^>]*>([^<]*)</g)].map(([, line]) => line)

describe('a picture', () => {
  test('says who, how, and what, with the shape and the colours of the whole', () => {
    const svg = pictureSvg(picture)
    expect(svg).toContain('>Acme</text>')
    expect(linesOf(svg)).toEqual(['There is a major outage of', 'API.'])
    expect(svg).toContain('>Live status</text>')
    expect(svg).toContain(`d="${shapes.MAJOR_OUTAGE}"`)
    expect(svg).toContain(`fill="${tones.MAJOR_OUTAGE.ink}"`)
    expect(nestingFaults(svg)).toEqual([])
  })

  test('leaves out what does not fit, and says so', () => {
    const long = linesOf(pictureSvg({ ...picture, sentence: 'Deliveries to some of our customers '.repeat(5) }))
    expect(long).toHaveLength(3)
    expect(long.at(-1)).toMatch(/[^ ]…$/)
    const [word, ...rest] = linesOf(pictureSvg({ ...picture, sentence: 'W'.repeat(200) }))
    expect(rest).toEqual([])
    expect(word).toMatch(/^W{10,20}…$/)
  })

  test('holds whatever a name is made of', () => {
    const hostile = `</text><image href="http://evil.example"/>&'`
    const svg = pictureSvg({ ...picture, owner: hostile, sentence: hostile })
    expect(svg).not.toContain('<image')
    expect(nestingFaults(svg)).toEqual([])
  })

  test('is of the page as it stands', async () => {
    const acme = await tenant()
    const { id: serviceId } = await createService(acme.ctx, { name: 'API' })
    const services = [{ serviceId, status: 'MAJOR_OUTAGE' }]
    const { id } = await createIncident(acme.ctx, { ...story, services })
    const read = async (incident: string | null) => (await readPicture(prisma, acme.slug, incident, noon)).picture
    expect(await read(null)).toEqual(picture)
    const facts = 'Investigating · Critical impact · 20 Nov 2026, 12:00 UTC'
    expect(await read(id)).toEqual({ ...picture, sentence: 'Payments fail', facts })
    await postIncidentUpdate(acme.later(HOUR), { incidentId: id, status: 'RESOLVED', message: 'Done.' })
    expect(await read(id)).toMatchObject({ status: 'OPERATIONAL', facts: expect.stringContaining('Resolved') })
    expect(await read(null)).toMatchObject({ sentence: 'All services are operational.', status: 'OPERATIONAL' })
  })

  test('has other words where its font lacks the characters', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { name: '株式会社アクメ' })
    await createService(acme.ctx, { name: 'Ödsmål – Ελλάδα, Київ' })
    const read = async (incident: string | null) => (await readPicture(prisma, acme.slug, incident, noon)).picture
    expect(await read(null)).toMatchObject({ owner: acme.slug, sentence: 'All services are operational.' })
    const { id } = await createIncident(acme.ctx, { ...story, title: '障害' })
    expect((await read(id)).sentence).toBe('An incident')
    const { id: other } = await createIncident(acme.ctx, { ...story, title: 'Ödsmål – “Ελλάδα” & Київ' })
    expect((await read(other)).sentence).toBe('Ödsmål – “Ελλάδα” & Київ')
  })
})

describe('the painter', () => {
  test('draws PNG in the size that is told, in its own font', async () => {
    const png = await painter.paint(pictureSvg(picture), 'acme')
    expect(sizeOf(png)).toEqual(PICTURE_SIZE)
    // With the words, there is more to draw than without.
    const wordless = await painter.paint(pictureSvg({ ...picture, owner: '', sentence: '', facts: '' }), 'acme')
    expect(png.length).toBeGreaterThan(wordless.length + 5000)
  })

  test('refuses when too many of one organization wait, fails with what is no picture, and goes on', async () => {
    const broken = painter.paint('<svg', 'acme')
    const waiting = Array.from({ length: 5 }, () => painter.paint(pictureSvg(picture), 'acme'))
    const outcomes = Promise.allSettled([broken, ...waiting])
    await expect(painter.paint(pictureSvg(picture), 'acme')).rejects.toThrow('Too many')
    expect(sizeOf(await painter.paint(pictureSvg(picture), 'other'))).toEqual(PICTURE_SIZE)
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', ...waiting.map(() => 'fulfilled')])
  })
})

test('over HTTP there is one of the page and one of each incident, drawn once while nothing changes', async () => {
  const { url } = await startPageServer({ prisma, listen: database.listen }, () => noon)
  const acme = await tenant()
  const { id } = await createIncident(acme.ctx, story)
  for (const path of ['picture.png', `incidents/${id}/picture.png?at=5`]) {
    const response = await fetch(`${url}/status/${acme.slug}/${path}`)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(sizeOf(Buffer.from(await response.arrayBuffer()))).toEqual(PICTURE_SIZE)
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(`${url}/status/${acme.slug}/${path}`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  }
  for (const none of ['nobody/picture.png', `${acme.slug}/incidents/x/picture.png`]) {
    expect((await fetch(`${url}/status/${none}`)).status).toBe(404)
  }
})

/** The size in a PNG's header (https://www.w3.org/TR/png-3/#11IHDR). */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

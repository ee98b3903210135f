import { describe, expect, test } from 'vitest'
import { contrast } from '../../../src/core/colour.ts'
import { createService, updateService } from '../../../src/status/service/service.ts'
import { badgeSvg } from '../../../src/status-page/document/badge.ts'
import { statusShapes } from '../../../src/status-page/status-shapes.ts'
import { statusColours } from '../../../src/status-page/status-tones.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { nestingFaults } from '../../support/markup.ts'
import { startPageServer } from '../../support/page-server.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const { url } = await startPageServer(database, () => noon)
const statuses = Object.keys(statusColours) as (keyof typeof statusColours)[]

describe('a badge', () => {
  test.each(statuses)('shows %s as a word, an icon and a colour', (status) => {
    const svg = badgeSvg({ label: 'API', value: 'As it is', status })
    expect(svg).toContain('role="img" aria-label="API: As it is"')
    expect(svg).toContain('<title>API: As it is</title>')
    expect(svg).toContain('>As it is</text>')
    expect(svg).toContain(`d="${statusShapes[status]}"`)
    expect(svg).toContain(`fill="${statusColours[status].ink}"`)
    expect(contrast('#ffffff', statusColours[status].ink)).toBeGreaterThan(4.5)
    expect(nestingFaults(svg)).toEqual([])
  })

  test('escapes and clips any name', () => {
    const what = `</text><script>alert("1")</script>&'\u{1f600}名${'x'.repeat(80)}`
    const svg = badgeSvg({ label: what, value: 'Operational', status: 'OPERATIONAL' })
    expect(svg).not.toContain('<script')
    expect(nestingFaults(svg)).toEqual([])
    expect(svg).toMatch(
      />&lt;\/text&gt;&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;&amp;&apos;\u{1f600}名x…<\/text>/u,
    )
    expect(svg).toContain('x'.repeat(80))
  })

  test('is as wide as its text', () => {
    const widthOf = (what: string) =>
      Number(/width="(\d+)"/.exec(badgeSvg({ label: what, value: 'Operational', status: 'OPERATIONAL' }))?.[1])
    expect(widthOf('WWWW')).toBeGreaterThan(widthOf('iiii') + 20)
    expect(widthOf('API')).toBeGreaterThan(100)
    expect(widthOf('API')).toBeLessThan(160)
  })
})

describe('over HTTP', () => {
  test('the page and each service have a badge that proxies may cache for a minute', async () => {
    const acme = await tenant()
    const { id } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await updateService(acme.ctx, { id, statusOverride: 'PARTIAL_OUTAGE' })
    const page = await fetch(`${url}/status/${acme.slug}/badge.svg`)
    expect(page.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('public, max-age=60')
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(page.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(await page.text()).toContain('aria-label="Acme: Partial outage"')
    const service = await fetch(`${url}/status/${acme.slug}/services/${id}/badge.svg`)
    expect(await service.text()).toContain('aria-label="API: Partial outage"')
  })

  test('services of other pages have no badge', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    const { id } = await createService(other.ctx, { name: 'API', status: 'OPERATIONAL' })
    for (const none of [id, 'x', '%00', acme.id]) {
      expect((await fetch(`${url}/status/${acme.slug}/services/${none}/badge.svg`)).status).toBe(404)
    }
  })
})

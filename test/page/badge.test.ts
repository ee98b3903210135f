import { describe, expect, test } from 'vitest'
import { badgeSvg } from '../../src/page/badge.ts'
import { contrast } from '../../src/page/colour.ts'
import { shapes } from '../../src/page/shape.ts'
import { tones } from '../../src/page/tone.ts'
import { createService, updateService } from '../../src/status/service.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults } from '../support/markup.ts'
import { startPageServer } from '../support/page-server.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const { url } = await startPageServer(database, () => noon)
const statuses = Object.keys(tones) as (keyof typeof tones)[]

describe('a badge', () => {
  test.each(statuses)('tells %s by a word, a shape and a colour', (status) => {
    const svg = badgeSvg({ what: 'API', how: 'As it is', status })
    expect(svg).toContain('role="img" aria-label="API: As it is"')
    expect(svg).toContain('<title>API: As it is</title>')
    expect(svg).toContain('>As it is</text>')
    expect(svg).toContain(`d="${shapes[status]}"`)
    expect(svg).toContain(`fill="${tones[status].ink}"`)
    expect(contrast('#ffffff', tones[status].ink)).toBeGreaterThan(4.5)
    expect(nestingFaults(svg)).toEqual([])
  })

  test('holds whatever a name is made of, and not more of it than fits', () => {
    const what = `</text><script>alert("1")</script>&'\u{1f600}名${'x'.repeat(80)}`
    const svg = badgeSvg({ what, how: 'Operational', status: 'OPERATIONAL' })
    expect(svg).not.toContain('<script')
    expect(nestingFaults(svg)).toEqual([])
    expect(svg).toMatch(
      />&lt;\/text&gt;&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;&amp;&apos;\u{1f600}名x…<\/text>/u,
    )
    expect(svg).toContain('x'.repeat(80))
  })

  test('is as wide as its words', () => {
    const widthOf = (what: string) =>
      Number(/width="(\d+)"/.exec(badgeSvg({ what, how: 'Operational', status: 'OPERATIONAL' }))?.[1])
    expect(widthOf('WWWW')).toBeGreaterThan(widthOf('iiii') + 20)
    expect(widthOf('API')).toBeGreaterThan(100)
    expect(widthOf('API')).toBeLessThan(160)
  })
})

describe('over HTTP', () => {
  test('there is one of the page and one of each service, which others may keep for a minute', async () => {
    const acme = await tenant()
    const { id } = await createService(acme.ctx, { name: 'API' })
    await updateService(acme.ctx, { id, statusOverride: 'PARTIAL_OUTAGE' })
    const page = await fetch(`${url}/status/${acme.slug}/badge.svg`)
    expect(page.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('public, max-age=60')
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(page.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(await page.text()).toContain('aria-label="Acme: Partial system outage"')
    const service = await fetch(`${url}/status/${acme.slug}/services/${id}/badge.svg`)
    expect(await service.text()).toContain('aria-label="API: Partial outage"')
  })

  test('there is none of services that are not the page’s own', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    const { id } = await createService(other.ctx, { name: 'API' })
    for (const none of [id, 'x', '%00', acme.id]) {
      expect((await fetch(`${url}/status/${acme.slug}/services/${none}/badge.svg`)).status).toBe(404)
    }
  })
})

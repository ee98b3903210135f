import { expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'
import { mutate } from '../../../support/filled-organization.ts'

const { app, organization } = await testConsole()
const acme = await organization('acme')

test('an incident is merged with a form; its page redirects to the other, and an open one reloads', async () => {
  const editor = await acme.signIn('EDITOR')
  const words = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.', services: [] }
  const open = (title: string) => mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', { ...words, title })
  const [slow, down] = [await open('Slow search'), await open('All is down')]
  const page = (id: string, query = '') =>
    fetch(`${app.baseUrl}/status/acme/incidents/${id}${query}`, { redirect: 'manual' })
  expect((await page(slow.id)).status).toBe(200)
  const form = await editor.get(`incidents/${slow.id}/merge`)
  expect(form.html).toContain('All is down')
  expect(form.html).toContain('“Slow search” was merged into this incident.')
  const sent = { intoId: down.id, message: 'They are one.', 'notifySubscribers.shown': 'true' }
  expect((await editor.post(`incidents/${slow.id}/merge`, { ...sent, intoId: slow.id })).status).toBe(422)
  const merged = await editor.post(`incidents/${slow.id}/merge`, sent)
  expect(merged.location).toBe(`/console/acme/incidents/${down.id}`)
  expect((await editor.get(`incidents/${slow.id}`)).html).toContain('The incident that it was merged into')
  const led = await page(slow.id)
  expect([led.status, led.headers.get('location')]).toEqual([302, `/status/acme/incidents/${down.id}`])
  const german = await fetch(`${app.baseUrl}/status/acme/de/incidents/${slow.id}`, { redirect: 'manual' })
  expect(german.headers.get('location')).toBe(`/status/acme/de/incidents/${down.id}`)
  // The script reloads the page when this answers that it is gone.
  expect((await page(slow.id, '?since=x')).status).toBe(404)
  const whole = await (await page(down.id)).text()
  for (const text of ['They are one.', 'We look.']) expect(whole).toContain(text)
  for (const path of ['', '/history', '/history.atom', '/api/v2/incidents.json', '/api/v2/summary.json']) {
    const shown = await (await fetch(`${app.baseUrl}/status/acme${path}`)).text()
    expect(shown).not.toContain(slow.id)
    expect(shown).not.toContain('Slow search')
  }
})

test('addresses of merged incidents are not found on pages of other organizations', async () => {
  const other = await organization('other')
  const words = { title: 'Theirs', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.', services: [] }
  const [one, two] = [
    await mutate(app.baseUrl, other.key, 'createIncident', 'Incident', words),
    await mutate(app.baseUrl, other.key, 'createIncident', 'Incident', words),
  ]
  await mutate(app.baseUrl, other.key, 'mergeIncidents', 'Incident', { id: one.id, intoId: two.id })
  const status = async (slug: string) =>
    (await fetch(`${app.baseUrl}/status/${slug}/incidents/${one.id}`, { redirect: 'manual' })).status
  expect([await status('other'), await status('acme'), await status('nobody')]).toEqual([302, 404, 404])
})

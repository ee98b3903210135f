import { expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'
import { mutate } from '../../../support/filled-organization.ts'

const { app, organization } = await testConsole()
const acme = await organization('acme')

const incidentOf = (status: string) =>
  mutate(app.baseUrl, acme.key, 'createIncident', 'Incident', {
    ...{ title: 'All is down', status, impact: 'MINOR', message: 'We look.', services: [] },
  })

/** Returns what visitors can read of an incident, at each public address. */
async function publicTexts(id: string): Promise<string> {
  const paths = [
    '',
    `/incidents/${id}`,
    `/de/incidents/${id}`,
    '/history',
    '/history.atom',
    '/history.rss',
    '/api/v2/incidents.json',
  ]
  const pages = paths.map(async (path) => (await fetch(`${app.baseUrl}/status/acme${path}`)).text())
  const query = `query ($id: ID!) { node(id: $id) { ... on Incident { postmortem { message translations { message } } } } }`
  const body = JSON.stringify({ query, variables: { id } })
  const headers = { 'Content-Type': 'application/json' }
  pages.push(fetch(`${app.baseUrl}/graphql`, { method: 'POST', headers, body }).then((answer) => answer.text()))
  return (await Promise.all(pages)).join('\n')
}

const timesOfChange = (texts: string) => texts.match(/"updated_at":"[^"]+"|<updated>[^<]+/g)

test('a post-mortem is drafted from the timeline, previewed, saved, published, withdrawn and deleted with forms', async () => {
  const editor = await acme.signIn('EDITOR')
  const { id } = await incidentOf('RESOLVED')
  const path = `incidents/${id}/postmortem`
  expect((await editor.get(`incidents/${id}`)).html).toContain('Write a post-mortem')
  const drafted = await editor.post(path, { draft: 'true' })
  expect(drafted.html).toMatch(/## Summary[^<]+We look\./)
  const preview = await editor.post(path, { message: 'A **disk** was full.', preview: 'true' })
  expect(preview.html).toContain('<strong>disk</strong>')
  expect((await editor.post(path, { message: '' })).status).toBe(422)
  const before = await publicTexts(id)
  const saved = await editor.post(path, { message: 'A **disk** was full.' })
  expect(saved.location).toBe(`/console/acme/${path}`)
  expect((await editor.get(`incidents/${id}`)).html).toContain('<strong>disk</strong>')
  // Not even a modification time reveals that there is a draft.
  expect(timesOfChange(await publicTexts(id))).toEqual(timesOfChange(before))
  expect(await publicTexts(id)).not.toContain('was full')
  await editor.post(`${path}/publish`, { 'notifySubscribers.shown': 'true' })
  const shown = await (await fetch(`${app.baseUrl}/status/acme/incidents/${id}`)).text()
  expect(shown).toMatch(/id="postmortem"[\s\S]*<strong>disk<\/strong>/)
  expect(await publicTexts(id)).toContain('"message":"A **disk** was full."')
  expect((await editor.post(path, { message: 'Outdated.', version: '1' })).status).toBe(422)
  await editor.post(`${path}/unpublish`, {})
  expect(await publicTexts(id)).not.toContain('was full')
  expect((await editor.get(`${path}/delete`)).html).toContain('Its post-mortem is deleted in all languages')
  expect((await editor.post(`${path}/delete`, {})).location).toBe(`/console/acme/incidents/${id}`)
  expect((await editor.get(`incidents/${id}`)).html).toContain('Write a post-mortem')
})

test('of an open incident cannot be published, and viewers cannot write one', async () => {
  const [editor, viewer] = [await acme.signIn('EDITOR'), await acme.signIn('VIEWER')]
  const { id } = await incidentOf('INVESTIGATING')
  const path = `incidents/${id}/postmortem`
  await editor.post(path, { message: 'Too early.' })
  expect((await editor.get(path)).html).toContain('once the incident is public and resolved')
  expect((await editor.post(`${path}/publish`, {})).status).toBe(422)
  expect((await viewer.get(`incidents/${id}`)).html).toContain('Too early.')
  expect((await viewer.post(path, { message: 'Mine.' })).status).toBe(422)
  const { html } = await editor.get(`incidents/${id}`)
  expect(html).toContain('Too early.')
  expect(html).not.toContain('Mine.')
})

test('a review is requested, listed, approved by another member and cancelled with forms', async () => {
  const [author, reviewer, viewer] = [
    await acme.signIn('EDITOR'),
    await acme.signIn('EDITOR'),
    await acme.signIn('VIEWER'),
  ]
  const { id } = await incidentOf('RESOLVED')
  const path = `incidents/${id}/postmortem`
  await author.post(path, { message: 'A disk was full.' })
  const before = timesOfChange(await publicTexts(id))
  expect((await author.get(path)).html).toContain('Publish the saved text')
  expect((await author.post(`${path}/request-review`, {})).location).toBe(`/console/acme/${path}`)
  const waiting = await author.get(path)
  expect(waiting.html).toContain('It can be published once it is approved.')
  expect(waiting.html).not.toMatch(/Publish the saved text|Approve the saved text/)
  expect((await viewer.get('now')).html).toContain(`/console/acme/${path}`)
  // Viewers see the state of the review, without buttons.
  expect((await viewer.get(`incidents/${id}`)).html).toContain('Review requested')
  expect((await author.post(`${path}/publish`, {})).status).toBe(422)
  expect((await author.post(`${path}/approve`, { version: '1' })).html).toContain('A member other than its author')
  const seen = await reviewer.get(path)
  expect(seen.html).toContain('Approve the saved text')
  expect((await reviewer.post(`${path}/approve`, { version: '7' })).html).toContain('you read version 7')
  expect((await reviewer.post(`${path}/approve`, {})).status).toBe(422)
  expect((await reviewer.post(`${path}/approve`, { version: '1' })).location).toBe(`/console/acme/${path}`)
  expect((await author.get(`incidents/${id}`)).html).toMatch(/Approved <time[\s\S]*by Person \d+/)
  expect((await author.get('now')).html).not.toContain(`/console/acme/${path}`)
  await author.post(path, { message: 'Two disks were full.', version: '1' })
  expect((await author.get(path)).html).toContain('Review requested')
  await author.post(`${path}/cancel-review`, {})
  expect((await author.get(path)).html).toContain('Request a review')
  // None of this is public.
  expect(timesOfChange(await publicTexts(id))).toEqual(before)
  const query = `query ($id: ID!) { node(id: $id) { ... on Incident { postmortem { reviewedBy reviewedAt } } } }`
  await author.post(`${path}/publish`, {})
  const body = JSON.stringify({ query, variables: { id } })
  const answer = await fetch(`${app.baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { data, errors } = await answer.json()
  expect(data).toEqual({ node: { postmortem: { reviewedBy: null, reviewedAt: null } } })
  expect(errors).toHaveLength(2)
})

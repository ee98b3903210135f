import { expect, test } from 'vitest'
import { renderGuide } from '../../src/docs/guide.ts'
import { nestingFaults } from '../support/markup.ts'

const guide = (body: string) => renderGuide('monitors', `# Title\n\nThe *first* paragraph.\n\n${body}`)

test('has a title and its first paragraph as description', () => {
  expect(guide('More.')).toMatchObject({ slug: 'monitors', title: 'Title', description: 'The first paragraph.' })
})

test('headings link to themselves, with GitHub’s ids', () => {
  const { html, headings } = guide('## What `events` do, then?\n\n### Try it\n\n## Try it')
  expect(headings).toEqual([
    { id: 'what-events-do-then', text: 'What events do, then?', level: 2 },
    { id: 'try-it', text: 'Try it', level: 3 },
    { id: 'try-it-1', text: 'Try it', level: 2 },
  ])
  expect(html).toContain('<h3 id="try-it"><a class="anchor" href="#try-it">Try it</a></h3>')
  expect(nestingFaults(html)).toEqual([])
})

test.each([
  ['[x](uptime.md)', '<a href="/docs/uptime">'],
  ['[x](uptime.md#unknown)', '<a href="/docs/uptime#unknown">'],
  ['[x](../CHANGELOG.md)', '<a href="/docs/changelog">'],
  ['[x](#here)', '<a href="#here">'],
  ['[x](/openapi.json)', '<a href="/openapi.json">'],
  ['[x](https://a.example)', '<a href="https://a.example" rel="noopener noreferrer">'],
  ['![x](images/report.png)', '<img src="/docs/images/report.png" alt="x" />'],
])('%s links to where it is served', (markdown, html) => {
  expect(guide(markdown).html).toContain(html)
})

test('a link to a file that is not served fails', () => {
  expect(() => guide('[x](../package.json)')).toThrow('docs/monitors.md links to ../package.json')
})

test('a table can be scrolled', () => {
  expect(guide('| a |\n|---|\n| b |').html).toMatch(/<div class="table" role="region"[^>]* tabindex="0"><table>/)
})

test('a column without a name fails', () => {
  expect(() => guide('| | a |\n|---|---|\n| b | c |')).toThrow(
    'docs/monitors.md has a table with a column without a name.',
  )
})

test('HTML stays text, and comments are omitted', () => {
  expect(guide('<script>x</script> <!-- y -->').html).toMatch(/&lt;script&gt;x&lt;\/script&gt;(?!.*y)/)
})

test('its sections are searchable', () => {
  expect(guide('## One\n\nAbout `DNS_SERVERS` & more.').parts).toEqual([
    { id: '', heading: '', text: 'The first paragraph.' },
    { id: 'one', heading: 'One', text: 'About DNS_SERVERS & more.' },
  ])
})

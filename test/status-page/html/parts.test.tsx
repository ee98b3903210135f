import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedParts, cutIntoParts, joinParts, Part, unversioned } from '../../../src/status-page/html/parts.tsx'

/** Renders a page with a list of services and a list of incidents. */
function render(services: readonly string[], incidents: readonly string[], sentence = 'All is well') {
  const html = (
    <html lang="en">
      <head>
        <title>{sentence}</title>
        <meta name="description" content="long" />
      </head>
      <body {...unversioned}>
        <h1>{sentence}</h1>
        <ul>
          {services.map((name) => (
            <Part>
              <li>{name}</li>
            </Part>
          ))}
        </ul>
        {incidents.map((title) => (
          <Part>
            <article>
              {title}
              <ol>
                <Part>
                  <li>{title}</li>
                </Part>
              </ol>
            </article>
          </Part>
        ))}
      </body>
    </html>
  )
  return cutIntoParts(`${html}`)
}

/** Simulates an open page: inserts its own parts in place of unchanged ones. */
const applied = (changes: string, parts: readonly string[]) =>
  changes.replace(/<template data-same="(\d+)(?: (\d+))?"><\/template>/g, (_, first, last = first) =>
    parts.slice(Number(first), Number(last) + 1).join(''),
  )
const bodyOf = (html: string) => html.slice(html.indexOf('<body'))

test('a page is split into its outermost parts, which join to the whole', () => {
  const page = render(['API', 'Shop'], ['Payments fail'])
  expect(page.parts).toEqual([
    '<li data-part>API</li>',
    '<li data-part>Shop</li>',
    '<article data-part>Payments fail<ol><li>Payments fail</li></ol></article>',
  ])
  expect(joinParts(page)).toContain(
    `<body data-version="${page.version}" data-parts="${page.partsVersion}"><h1>All is well</h1><ul><li data-part>API</li>`,
  )
  expect(joinParts(page)).not.toContain('<!--')
})

test('a page with the same content has the same version, and with other content another one', () => {
  const { version } = render(['API'], [])
  expect(render(['API'], []).version).toBe(version)
  expect(render(['Shop'], []).version).not.toBe(version)
  expect(render(['API'], [], 'All is not well').version).not.toBe(version)
  expect(render(['API'], [], 'All is not well').partsVersion).toBe(render(['API'], []).partsVersion)
  expect(render(['Shop'], []).partsVersion).not.toBe(render(['API'], []).partsVersion)
})

test('the change of a long list is one part and two runs of parts', () => {
  const names = Array.from({ length: 100 }, (_, index) => `Service ${index}`)
  const before = render(names, [])
  const after = render(names.with(40, 'Service 40 is down'), [], 'Major outage')
  expect(changedParts(after, before.hashes)).toBe(
    `<title>Major outage</title><body data-version="${after.version}" data-parts="${after.partsVersion}"><h1>Major outage</h1><ul>` +
      '<template data-same="0 39"></template><li data-part>Service 40 is down</li><template data-same="41 99"></template>' +
      '</ul>',
  )
})

test('a change, applied to any earlier version, results in the page', () => {
  const names = fc.array(fc.constantFrom('API', 'Shop', 'Mail', 'DNS', '<b>', 'data-same="0 1"'), { maxLength: 8 })
  fc.assert(
    fc.property(names, names, names, names, (services, incidents, laterServices, laterIncidents) => {
      const before = render(services, incidents)
      const after = render(laterServices, laterIncidents, 'Later')
      expect(bodyOf(`${applied(changedParts(after, before.hashes), before.parts)}</body></html>`)).toBe(
        bodyOf(joinParts(after)),
      )
    }),
  )
})

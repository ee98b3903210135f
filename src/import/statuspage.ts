import { Draft, Fields, keyOf, nameOf, present, readJsonObject, type Translation, Unreadable } from './translation.ts'

const PREFIX = 'statuspage'

/** Translates what a page at Atlassian Statuspage serves at `/api/v2/summary.json`. @throws Unreadable. */
export function translateStatuspage(text: string): Translation {
  const summary = readJsonObject(text)
  if (!Array.isArray(summary.get('components'))) {
    throw new Unreadable('This is no summary of a status page: it has no components. Take /api/v2/summary.json.')
  }
  const draft = new Draft()
  const components = summary.list('components').map((each) => new Fields(each))
  for (const group of components.filter((each) => each.isTrue('group'))) {
    const name = nameOf(group.text('name'), 'Group')
    draft.objects.groups.set(
      keyOf(PREFIX, group.text('id')),
      present({ name, description: group.text('description').slice(0, 2000) }),
    )
  }
  for (const component of components.filter((each) => !each.isTrue('group'))) addService(draft, component)
  addPage(draft, summary.fields('page'))
  for (const [kind, member] of [
    ['incidents', 'incidents'],
    ['maintenance', 'scheduled_maintenances'],
  ] as const) {
    for (const each of summary.list(member))
      draft.leave(kind, nameOf(new Fields(each).text('name'), 'Incident'), 'It does not come along.')
  }
  return { ...draft, hasVariables: false }
}

function addService(draft: Draft, component: Fields): void {
  const name = nameOf(component.text('name'), 'Component')
  if (component.text('id') === '') {
    draft.skip('services', name, 'It has no id.')
    return
  }
  const key = keyOf(PREFIX, component.text('group_id'))
  const group = draft.objects.groups.has(key) ? key : undefined
  const description = component.text('description').slice(0, 2000)
  draft.objects.services.set(keyOf(PREFIX, component.text('id')), present({ name, group, description }))
  const status = component.text('status')
  if (status !== '' && status !== 'operational')
    draft.partly('services', name, `Its status there (${status.replaceAll('_', ' ')}) does not come along.`)
}

function addPage(draft: Draft, page: Fields): void {
  const services = [...draft.objects.services.keys()]
  if (page.text('id') === '' || services.length === 0) return
  const name = nameOf(page.text('name'), 'Status')
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  draft.objects.pages.set(keyOf(PREFIX, page.text('id')), {
    slug: slug.length < 3 ? `${slug}-status`.replace(/^-/, '') : slug,
    name,
    services,
  })
}

import { Draft, Fields, keyOf, nameOf, present, readJson, type Translation, Unreadable } from './translation.ts'

const PREFIX = 'instatus'

/** Translates what Instatus answers to `/v2/{page}/components`. @throws Unreadable. */
export function translateInstatus(text: string): Translation {
  const answer = readJson(text)
  const list = Array.isArray(answer) ? answer : new Fields(answer).list('components')
  const components = list.map((each) => new Fields(each))
  if (!components.some((each) => each.text('id') !== ''))
    throw new Unreadable('This is no list of components of Instatus: it has none.')
  const draft = new Draft()
  const parents = new Set(components.map(parentOf).filter((id) => id !== ''))
  for (const component of components) {
    const group = component.fields('group')
    if (group.text('id') !== '') addGroup(draft, group)
    if (component.isTrue('isParent') || parents.has(component.text('id'))) addGroup(draft, component)
  }
  for (const component of components) addService(draft, component)
  return { ...draft, hasVariables: false }
}

const parentOf = (component: Fields) =>
  component.fields('group').text('id') || component.text('groupId') || component.text('parentId')

function addGroup(draft: Draft, group: Fields): void {
  draft.objects.groups.set(keyOf(PREFIX, group.text('id')), { name: nameOf(textOf(group.get('name')), 'Group') })
}

/** Names are texts, or texts by language. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const names = new Fields(value)
  return names.text('default') || names.text('en')
}

function addService(draft: Draft, component: Fields): void {
  const id = component.text('id')
  const key = keyOf(PREFIX, id)
  if (draft.objects.groups.has(key)) return
  const name = nameOf(textOf(component.get('name')), `Component ${id}`)
  if (id === '') {
    draft.skip('services', name, 'It has no id.')
    return
  }
  const parent = parentOf(component)
  const group = parent === '' ? undefined : keyOf(PREFIX, parent)
  const description = textOf(component.get('description')).trim().slice(0, 2000)
  const hasGroup = group !== undefined && draft.objects.groups.has(group)
  draft.objects.services.set(key, present({ name, description, group: hasGroup ? group : undefined }))
  const status = component.text('status')
  if (status !== '' && status !== 'OPERATIONAL')
    draft.partly('services', name, `Its status there (${status.toLowerCase()}) does not come along.`)
}

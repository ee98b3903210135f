import { Draft, Fields, keyOf, nameOf, present, readJsonObject, type Translation, Unreadable } from './translation.ts'

const PREFIX = 'cachet'

/** What an answer may be called, where one file holds several. */
const parts = { groups: ['groups', 'component-groups', 'component_groups'], components: ['components'] } as const

/**
 * Translates what Cachet 2 or 3 answers to `/api/…/components`, or an object with `components`, `groups` and so on, each such an
 * answer. @throws Unreadable.
 */
export function translateCachet(text: string): Translation {
  const file = readJsonObject(text)
  const components = Array.isArray(file.get('data')) ? itemsOf(file.list('data')) : partOf(file, parts.components)
  if (components.length === 0) throw new Unreadable('This is nothing of Cachet: it has no components.')
  const draft = new Draft()
  for (const group of [...partOf(file, parts.groups), ...includedGroups(file)]) {
    const name = nameOf(group.attributes.text('name'), 'Group')
    draft.objects.groups.set(keyOf(PREFIX, group.id), { name })
  }
  for (const component of components) addService(draft, component)
  for (const [members, kind] of [
    [['incidents'], 'incidents'],
    [['schedules'], 'maintenance'],
  ] as const) {
    for (const { attributes } of partOf(file, members))
      draft.leave(kind, nameOf(attributes.text('name'), 'Incident'), 'It does not come along.')
  }
  return { ...draft, hasVariables: false }
}

/** An object of either version: in version 3, it is JSON:API. */
interface Item {
  readonly id: string
  readonly attributes: Fields
  readonly groupId: string
}

function itemsOf(list: readonly unknown[]): Item[] {
  return list.map((each) => {
    const item = new Fields(each)
    const isVersion3 = item.get('attributes') !== undefined
    const group = item.fields('relationships').fields('group').fields('data').text('id')
    const attributes = isVersion3 ? item.fields('attributes') : item
    return {
      id: item.text('id'),
      attributes,
      groupId: group || attributes.text('group_id') || attributes.text('component_group_id'),
    }
  })
}

/** Returns the items of a member: an answer with `data`, or a list. */
function partOf(file: Fields, names: readonly string[]): Item[] {
  return names.flatMap((name) => {
    const answer = file.get(name)
    return itemsOf(Array.isArray(answer) ? answer : new Fields(answer).list('data'))
  })
}

const includedGroups = (file: Fields) =>
  itemsOf(
    [...file.list('included'), ...file.fields('components').list('included')].filter((each) =>
      /group/i.test(new Fields(each).text('type')),
    ),
  )

function addService(draft: Draft, { id, attributes, groupId }: Item): void {
  const name = nameOf(attributes.text('name'), `Component ${id}`)
  const isOff = attributes.get('enabled') !== undefined && !attributes.isTrue('enabled')
  if (id === '' || isOff) {
    draft.skip('services', name, id === '' ? 'It has no id.' : 'It is not enabled.')
    return
  }
  const group = keyOf(PREFIX, groupId)
  const description = attributes.text('description').slice(0, 2000)
  draft.objects.services.set(
    keyOf(PREFIX, id),
    present({ name, description, group: groupId !== '' && draft.objects.groups.has(group) ? group : undefined }),
  )
  if (attributes.text('link') !== '') draft.partly('services', name, 'It comes without its link.')
  const status = attributes.text('status') || attributes.fields('status').text('value')
  if (status !== '' && status !== '1') draft.partly('services', name, 'Its status there does not come along.')
}

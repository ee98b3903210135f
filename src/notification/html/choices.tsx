import type { Topic } from '../../generated/prisma/enums.ts'

/** What a form offers, and what is ticked in it. */
export interface ChoiceProps {
  /** In the order of the page. */
  readonly services: readonly { readonly id: string; readonly name: string }[]
  readonly topics: readonly Topic[]
  /** Empty: every service. */
  readonly serviceIds: readonly string[]
}

const topicWords = {
  INCIDENTS: 'Incidents: when one begins, is updated and is resolved',
  MAINTENANCES: 'Planned maintenance: when it is announced, moved, updated, starts, ends or is called off',
  SERVICE_STATUS: 'Every change of a service’s status, which can be many',
} as const satisfies Record<Topic, string>

/** The part of a form that says what somebody wants to be told of. */
export function ChoiceFields({ services, topics, serviceIds }: ChoiceProps) {
  return (
    <>
      <fieldset>
        <legend>Tell me of</legend>
        {Object.entries(topicWords).map(([topic, words]) => (
          <label class="tick">
            <input type="checkbox" name="topics" value={topic} checked={topics.some((each) => each === topic)} />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      {services.length === 0 ? null : (
        <details open={serviceIds.length > 0}>
          <summary>Only some services</summary>
          <fieldset>
            <legend>With none ticked, you are told of all of them.</legend>
            {services.map(({ id, name }) => (
              <label class="tick">
                <input type="checkbox" name="serviceIds" value={id} checked={serviceIds.includes(id)} /> {name}
              </label>
            ))}
          </fieldset>
        </details>
      )}
    </>
  )
}

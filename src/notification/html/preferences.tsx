import type { Topic } from '../../generated/prisma/enums.ts'

/** The options of a form, and the selected ones. */
export interface PreferenceProps {
  /** In the order of the page. */
  readonly services: readonly { readonly id: string; readonly name: string }[]
  readonly topics: readonly Topic[]
  /** Empty: every service. */
  readonly serviceIds: readonly string[]
  /** What is wrong with the topics. */
  readonly problem?: string | null
}

const topicLabels = {
  INCIDENTS: 'Incidents: started, updated and resolved',
  MAINTENANCES: 'Maintenance: scheduled, rescheduled, updated, started, completed and cancelled',
  SERVICE_STATUS: 'Every status change (can be frequent)',
} as const satisfies Record<Topic, string>

/** Renders the form fields for topics and services. */
export function PreferenceFields({ services, topics, serviceIds, problem = null }: PreferenceProps) {
  return (
    <>
      <fieldset
        class="form-field"
        {...(problem !== null && { 'aria-invalid': 'true', 'aria-describedby': 'topics-problem' })}
      >
        <legend>Notify me about</legend>
        {problem === null ? null : (
          <p class="problem" id="topics-problem">
            {problem}
          </p>
        )}
        {Object.entries(topicLabels).map(([topic, words]) => (
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
            <legend>Leave all unchecked to get updates about every service.</legend>
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

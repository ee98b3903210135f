/** The input fields that refer to other objects, by their names in files. */
export const inputNames: Readonly<Record<string, string>> = {
  group: 'groupId',
  service: 'serviceId',
  services: 'serviceIds',
  monitors: 'monitorIds',
  dependsOn: 'dependsOnIds',
}
const fieldNames = new Map(Object.entries(inputNames).map(([field, input]) => [input, field]))

/** Returns the name that an input field has in files. */
export const fieldName = (input: string): string => fieldNames.get(input) ?? input

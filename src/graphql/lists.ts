/** What a list that is given whole weighs in the reckoning of how much an operation may ask for. */
export const LIST = { field: 1, multiplier: 3 }

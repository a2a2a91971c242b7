export const Occurrences = () => null

/** A known name that begins so was most likely meant: `wait` for `waitMs`. */
const MIN_BEGINNING = 3;

/** What a message says of an option that there is not: which there are, and which was meant, most likely. */
export function describeUnknownOption(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `is not an option (the options are: ${known.join(', ')})${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  // In a short name two slips leave nothing of it.
  const most = written.length < 5 ? 1 : 2;
  const near = (slips: number): string | undefined => known.find((one) => isNear(written, one.toLowerCase(), slips));
  const beginsSo = (one: string): boolean => written.length >= MIN_BEGINNING && one.toLowerCase().startsWith(written);
  return near(0) ?? known.find(beginsSo) ?? near(1) ?? near(most);
}

/** Whether so many characters left out, put in or exchanged make the one of the other. */
function isNear(left: string, right: string, slips: number): boolean {
  if (Math.abs(left.length - right.length) > slips) return false;
  if (left === '' || right === '') return true;
  const [restOfLeft, restOfRight] = [left.slice(1), right.slice(1)];
  if (left.charAt(0) === right.charAt(0)) return isNear(restOfLeft, restOfRight, slips);
  return (
    slips > 0 &&
    (isNear(restOfLeft, restOfRight, slips - 1) ||
      isNear(restOfLeft, right, slips - 1) ||
      isNear(left, restOfRight, slips - 1))
  );
}

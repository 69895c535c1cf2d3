"""Prints `passed failed`, summed over the JUnit XML files that are named.

Skipped tests count as neither. Python's pytest, lit and GoogleTest disagree on
the attributes of a suite, so the test cases themselves are counted.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    passed = failed = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None and case.get("status") != "notrun":
            passed += 1
    return passed, failed


if __name__ == "__main__":
    counts = [count(path) for path in sys.argv[1:]]
    print(sum(p for p, _ in counts), sum(f for _, f in counts))

#!/bin/sh
# tools/docs.sh : makes the documentation site build/docs/site. Fails where a link leads nowhere.
set -eu
cd "$(dirname "$0")/.."

source=build/docs/source
rm -rf $source
mkdir -p $source
# What pages link to lies beside them. A folder is linked to by its name; the site has the page README.md of it.
git ls-files -z -co --exclude-standard '*.md' LICENSE docs examples include src/mpi/interposition/bypass.h |
    xargs -0 cp --parents -t $source
.venv/bin/python tools/verbs_page.py >$source/docs/verbs.md
.venv/bin/python tools/api_page.py >$source/docs/api-functions.md
NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet
echo "documentation: build/docs/site/index.html"

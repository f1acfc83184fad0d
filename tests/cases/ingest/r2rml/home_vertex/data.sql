CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, height REAL, dept TEXT);
INSERT INTO people VALUES (1, 'Ann', 30, 1.5, 'R&D'), (2, 'Bo "the" Wu', NULL, 1.75, NULL), (3, 'Cy', 41, NULL, 'Ops');
